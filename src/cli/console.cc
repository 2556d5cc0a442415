// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/console.h"

namespace huddle::cli {

void Console::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

void Console::note(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), err);
  std::fputc('\n', err);
}

}  // namespace huddle::cli
