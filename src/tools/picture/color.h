// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The palette: a ramp for latencies that colour-blind people can read, and calm colours for levels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace huddle::picture {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

inline constexpr Rgb white = {255, 255, 255};

// From dark blue (0: near) through green to yellow (1: far); lightness rises all the way, so that
// it also reads in grey. Beyond 0 and 1 the ends.
Rgb heat(double fraction);

// Returns the colors between which heat() blends, in equal steps from 0 to 1.
std::span<const Rgb> heat_colors();

// Black or white, whichever reads better on this ground.
Rgb readable_on(Rgb ground);

// `part` of a mixed into b: 1 gives a.
Rgb mixed(Rgb a, Rgb b, double part);

// What boxes of a level are drawn in: dark enough for lines on white, light enough on black.
Rgb level_color(std::string_view level);

// The one place that knows the terminal's escape codes.

// How a piece of text is to look where colour may be used.
struct Ink {
  std::optional<Rgb> text;
  std::optional<Rgb> ground;
  bool bold = false;
  bool dim = false;

  bool operator==(const Ink&) const = default;
};

// The text with its codes around it, in the 256 colours that every terminal of today has; the bare
// text where the ink is plain or colour is off.
std::string inked(std::string_view text, const Ink& ink, bool color);

}  // namespace huddle::picture
