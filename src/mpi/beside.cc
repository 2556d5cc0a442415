// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/beside.h"

#include <dlfcn.h>

namespace huddle::mpi {

std::string path_beside(std::string_view file) {
  Dl_info self;
  dladdr(reinterpret_cast<const void*>(&path_beside), &self);
  const std::string own = self.dli_fname;
  return own.substr(0, own.rfind('/') + 1).append(file);
}

}  // namespace huddle::mpi
