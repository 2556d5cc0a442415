// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The palette: a scale for latencies that colour-blind readers can distinguish, muted colours for
// levels, and terminal escape codes.
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

// Returns a color on the scale from dark blue (0: near) over green to yellow (1: far). Lightness
// increases monotonically, so the scale also works in grey. Values outside 0 to 1 are clamped.
Rgb heat(double fraction);

// Returns the colors between which heat() blends, in equal steps from 0 to 1.
std::span<const Rgb> heat_colors();

// Returns black or white, whichever is more readable on this background.
Rgb readable_on(Rgb ground);

// Mixes the colors in the ratio `part` : 1 - `part`; 1 gives `a`.
Rgb mixed(Rgb a, Rgb b, double part);

// Returns the color of a level's boxes: dark enough for lines on white, light enough for black.
Rgb level_color(std::string_view level);

// The look of a piece of text if color is available.
struct Ink {
  std::optional<Rgb> text;
  std::optional<Rgb> ground;
  bool bold = false;
  bool dim = false;

  bool operator==(const Ink&) const = default;
};

// Returns the text with escape codes from the 256-color palette, or unchanged if the ink is plain
// or `color` is false.
std::string inked(std::string_view text, const Ink& ink, bool color);

}  // namespace huddle::picture
