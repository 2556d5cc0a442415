// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>
#include <string_view>

namespace huddle::mpi {

// Name and version of an MPI, out of all that MPI_Get_library_version says: "Open MPI v4.1.4".
std::string library_title(std::string_view library_version);

}  // namespace huddle::mpi
