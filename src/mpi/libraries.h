// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for shared libraries: paths beside this library, symbols, and the name of an MPI.
#pragma once

#include <dlfcn.h>
#include <string>
#include <string_view>

namespace huddle::mpi {

// Returns the path of `file` in the directory of the library that contains this code.
std::string path_beside(std::string_view file);

// Sets the pointer to the function of this name in a library that dlopen() returned. Returns false
// if the library does not have it.
template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// Extracts an MPI's name and version from MPI_Get_library_version, such as "Open MPI v4.1.4".
std::string library_title(std::string_view library_version);

}  // namespace huddle::mpi
