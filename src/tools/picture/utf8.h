// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads UTF-8 and replaces what an XML document must not contain.
#pragma once

#include <cstddef>
#include <string_view>

namespace huddle::picture {

inline constexpr char32_t replacement_character = 0xFFFD;

struct CodePoint {
  char32_t value = replacement_character;
  std::size_t bytes = 1;  // length of its encoding
};

// Returns the first code point of the text. It is U+FFFD if the bytes are not valid UTF-8 (then one
// byte long), or if they encode a control character or another code point that XML forbids.
// Requires: the text is not empty.
CodePoint first_code_point(std::string_view utf8);

}  // namespace huddle::picture
