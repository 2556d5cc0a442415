// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/utf8.h"

namespace huddle::picture {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Returns the length of the encoding that starts with this byte; 0 if none does.
std::size_t encoded_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// Returns whether XML 1.0 allows the code point. Tabs, line breaks and the controls from U+007F to
// U+009F are allowed there, but have no place in a line of text.
bool is_allowed(char32_t value) {
  if (value < 0x20 || (value >= 0x7F && value < 0xA0)) return false;
  if (value >= 0xD800 && value < 0xE000) return false;
  return value != 0xFFFE && value != 0xFFFF && value <= 0x10FFFF;
}

}  // namespace

CodePoint first_code_point(std::string_view utf8) {
  // The least value that needs an encoding of this length: a longer encoding is invalid.
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned lead = byte_at(utf8, 0);
  const std::size_t length = encoded_length(lead);
  if (length == 0 || length > utf8.size()) return {};
  char32_t value = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned byte = byte_at(utf8, i);
    if ((byte & 0xC0U) != 0x80U) return {};
    value = value << 6U | (byte & 0x3FU);
  }
  if (value < least[length] || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {is_allowed(value) ? value : replacement_character, length};
}

}  // namespace huddle::picture
