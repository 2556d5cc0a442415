// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/system.h"

namespace huddle::mpi {

std::string path_beside(std::string_view file) {
  Dl_info self;
  dladdr(reinterpret_cast<const void*>(&path_beside), &self);
  const std::string own = self.dli_fname;
  return own.substr(0, own.rfind('/') + 1).append(file);
}

// Some MPIs append build details, after a comma or on more lines, or a NUL.
std::string library_title(std::string_view library_version) {
  constexpr std::string_view ends("\0\n\r,", 4);
  std::string first(library_version.substr(0, library_version.find_first_of(ends)));
  for (char& letter : first) {
    if (letter == '\t') letter = ' ';
  }
  return fmt::format("{}", fmt::join(words(first), " "));
}

}  // namespace huddle::mpi
