// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/color.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace huddle::picture {
namespace {

// Lightness rises evenly from the first to the last color, with linear interpolation.
constexpr std::array<Rgb, 7> heat_stops = {{{48, 32, 96},
                                            {54, 74, 140},
                                            {38, 112, 142},
                                            {32, 148, 136},
                                            {88, 186, 108},
                                            {168, 216, 72},
                                            {250, 232, 64}}};

constexpr std::array<std::pair<std::string_view, Rgb>, 9> level_colors = {{
    {"machine", {124, 124, 132}},
    {"package", {52, 101, 164}},
    {"die", {117, 96, 168}},
    {"group", {117, 96, 168}},
    {"numa", {32, 134, 118}},
    {"l4", {176, 108, 40}},
    {"l3", {176, 108, 40}},
    {"l2", {160, 84, 110}},
    {"l1", {160, 84, 110}},
}};
constexpr Rgb other_level = {110, 116, 60};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) {
  return static_cast<std::uint8_t>(std::lround(a * part + b * (1 - part)));
}

}  // namespace

Rgb mixed(Rgb a, Rgb b, double part) {
  return {between(a.red, b.red, part), between(a.green, b.green, part),
          between(a.blue, b.blue, part)};
}

Rgb heat(double fraction) {
  const double place = std::clamp(fraction, 0.0, 1.0) * (heat_stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), heat_stops.size() - 2);
  return mixed(heat_stops[below + 1], heat_stops[below], place - static_cast<double>(below));
}

std::span<const Rgb> heat_colors() { return heat_stops; }

Rgb readable_on(Rgb ground) {
  // Luma weights of Rec. 601, with a threshold at half.
  const double luma = 0.299 * ground.red + 0.587 * ground.green + 0.114 * ground.blue;
  return luma > 127.5 ? Rgb{16, 16, 20} : Rgb{255, 255, 255};
}

Rgb level_color(std::string_view level) {
  const auto* found = std::find_if(level_colors.begin(), level_colors.end(),
                                   [&](const auto& entry) { return entry.first == level; });
  return found == level_colors.end() ? other_level : found->second;
}

namespace {

// xterm's color cube from number 16 on: 6 x 6 x 6 with these intensities.
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
