// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/svg_text.h"

#include <array>
#include <cstdint>

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
  // The smallest value that needs an encoding of this length. Encodings that are longer than
  // necessary are invalid.
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

namespace {

constexpr char32_t first_printable = 0x20;
using Widths = std::array<std::uint16_t, 95>;

// Advance widths of U+0020 to U+007E in thousandths of an em, rounded up: DejaVu Sans 2.37.
constexpr Widths regular_widths = {
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361,  318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531, 1000, 685, 687, 699, 771, 632,
    576, 775, 752, 295, 295, 656, 558, 863, 749, 788, 604, 788, 695, 635,  611, 732, 685, 989, 686,
    611, 686, 391, 337, 391, 838, 500, 500, 613, 635, 550, 635, 616, 353,  635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592,  525, 637, 337, 637, 838};
constexpr Widths bold_widths = {
    349,  457, 521, 838, 696, 1002, 873, 307,  458, 458, 523, 838, 380, 416,  380, 366,
    696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 581,
    1000, 774, 763, 734, 831, 684,  684, 821,  837, 373, 373, 775, 638, 996,  837, 851,
    733,  851, 771, 721, 683, 813,  774, 1104, 771, 725, 726, 458, 366, 458,  838, 500,
    500,  675, 716, 593, 716, 679,  436, 716,  712, 343, 343, 666, 343, 1042, 712, 688,
    716,  716, 494, 596, 479, 712,  652, 924,  646, 652, 583, 712, 366, 712,  838};

// Other Latin letters and all scripts after them: few characters are wider.
constexpr double latin_width = 0.86;
constexpr double other_width = 1.05;
constexpr char32_t after_latin = 0x250;

double width_in_ems(char32_t value, bool bold) {
  const Widths& widths = bold ? bold_widths : regular_widths;
  if (value >= first_printable && value < first_printable + widths.size()) {
    return widths[value - first_printable] / 1000.0;
  }
  return value < after_latin ? latin_width : other_width;
}

}  // namespace

std::string xml_escaped(std::string_view utf8) {
  std::string text;
  while (!utf8.empty()) {
    const CodePoint point = first_code_point(utf8);
    switch (point.value) {
      case U'&':
        text += "&amp;";
        break;
      case U'<':
        text += "&lt;";
        break;
      case U'>':
        text += "&gt;";
        break;
      case U'"':
        text += "&quot;";
        break;
      case U'\'':
        text += "&#39;";
        break;
      case replacement_character:
        text += "\xEF\xBF\xBD";
        break;
      default:
        text += utf8.substr(0, point.bytes);
    }
    utf8.remove_prefix(point.bytes);
  }
  return text;
}

double text_width(std::string_view utf8, double size, bool bold) {
  double ems = 0;
  while (!utf8.empty()) {
    const CodePoint point = first_code_point(utf8);
    ems += width_in_ems(point.value, bold);
    utf8.remove_prefix(point.bytes);
  }
  return ems * size;
}

}  // namespace huddle::picture
