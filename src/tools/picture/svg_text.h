// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Text in an SVG picture: its escaping, its font, and an estimate of its width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace huddle::picture {

// Stands for invalid UTF-8 and for characters that an XML document must not contain.
inline constexpr char32_t replacement_character = 0xFFFD;

struct CodePoint {
  char32_t value = replacement_character;
  std::size_t bytes = 1;  // length of its encoding
};

// Returns the first code point of the text. It is U+FFFD if the bytes are not valid UTF-8 (then one
// byte long), or if they encode a control character or another code point that XML forbids.
// Requires: the text is not empty.
CodePoint first_code_point(std::string_view utf8);

// The fonts of a picture in order of preference. text_width() holds for the first font. It is among
// the widest common fonts, so text in the other fonts needs less space.
inline constexpr std::string_view font_family = "'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif";

// Half the difference of the font's ascent and descent, in ems. A line of text is centered on a
// height if its baseline lies this far below the middle.
inline constexpr double baseline_shift = 0.346;

// Returns the text as XML character data, also valid within quotes. Invalid UTF-8 and control
// characters become U+FFFD.
std::string xml_escaped(std::string_view utf8);

// Returns an upper bound of the text's width at this font size, in the first font of `font_family`.
double text_width(std::string_view utf8, double size, bool bold);

}  // namespace huddle::picture
