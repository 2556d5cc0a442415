// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/ansi.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace huddle::picture {
namespace {

// xterm's colour cube: 6 x 6 x 6 with these strengths, from number 16 on.
constexpr std::array<int, 6> cube_strengths = {0, 95, 135, 175, 215, 255};
constexpr int cube_start = 16;

int nearest_strength(int value) {
  int best = 0;
  for (int i = 1; i < 6; ++i) {
    const auto at = [&](int index) {
      return std::abs(cube_strengths[static_cast<std::size_t>(index)] - value);
    };
    if (at(i) < at(best)) best = i;
  }
  return best;
}

int color_number(Rgb color) {
  return cube_start + 36 * nearest_strength(color.red) + 6 * nearest_strength(color.green) +
         nearest_strength(color.blue);
}

}  // namespace

std::string inked(std::string_view text, const Ink& ink, bool color) {
  if (!color || ink == Ink{} || text.empty()) return std::string(text);
  std::string codes;
  if (ink.bold) codes += ";1";
  if (ink.dim) codes += ";2";
  if (ink.text) codes += fmt::format(";38;5;{}", color_number(*ink.text));
  if (ink.ground) codes += fmt::format(";48;5;{}", color_number(*ink.ground));
  return fmt::format("\x1b[{}m{}\x1b[0m", codes.substr(1), text);
}

}  // namespace huddle::picture
