// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/shade.h"

#include <array>
#include <cmath>

namespace huddle::cli {

std::string_view shade(double amount, double least, double most, bool unicode) {
  static constexpr std::array<std::string_view, 5> blocks = {"··", "░░", "▒▒", "▓▓", "██"};
  static constexpr std::array<std::string_view, 5> signs = {"..", "::", "oo", "OO", "##"};
  std::size_t step = 0;
  if (amount > 0) {
    const double fraction = most > least ? std::log(amount / least) / std::log(most / least) : 1;
    step = 1 + static_cast<std::size_t>(std::lround(3 * fraction));
  }
  return unicode ? blocks[step] : signs[step];
}

}  // namespace huddle::cli
