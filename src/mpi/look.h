// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Asks the program beside this library what machine this is.
#pragma once

#include <string>

namespace huddle::mpi {

// The text of a machine file. machine_file: the one that was named; empty: whichever is found.
// Throws FailureError with what the program says.
std::string look_at_machine(const std::string& machine_file);

}  // namespace huddle::mpi
