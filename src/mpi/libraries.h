// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <dlfcn.h>
#include <string>
#include <string_view>

namespace huddle::mpi {

// What is installed beside the library that this code is in.
std::string path_beside(std::string_view file);

// Sets the pointer to the function of this name in a library that dlopen() returned. Returns false
// if the library does not have it.
template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// Name and version of an MPI, out of all that MPI_Get_library_version says: "Open MPI v4.1.4".
std::string library_title(std::string_view library_version);

}  // namespace huddle::mpi
