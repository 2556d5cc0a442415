// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is installed beside the library that this code is in.
#pragma once

#include <string>
#include <string_view>

namespace huddle::mpi {

std::string path_beside(std::string_view file);

}  // namespace huddle::mpi
