// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <dlfcn.h>

namespace huddle::mpi {

// Sets the pointer to the function of this name in a library that dlopen() returned. Returns false
// if the library does not have it.
template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace huddle::mpi
