// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The one place that knows the terminal's escape codes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/picture/color.h"

namespace huddle::picture {

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
