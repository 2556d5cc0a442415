// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/console.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace huddle::cli {

void Console::print(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
    throw FailureError(fmt::format("cannot write the result: {}", std::strerror(errno)));
  }
}

void Console::note(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), err);
  std::fputc('\n', err);
}

}  // namespace huddle::cli
