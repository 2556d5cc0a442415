// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/words.h"

#include <algorithm>

#include "common/text.h"
#include "tools/picture/grid.h"

namespace huddle::picture {
namespace {

// Pieces that may not be broken inside: words with the blanks after them, list items with the
// comma.
std::vector<std::string> unbreakable(std::string_view text) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    const bool after_break =
        !pieces.back().empty() && ((pieces.back().back() == ' ' && c != ' ') ||
                                   (pieces.back().back() == ',' && c != ' ' && c != ','));
    if (after_break) pieces.emplace_back();
    pieces.back() += c;
  }
  return pieces;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 1));
  std::vector<std::string> lines(1);
  const auto start_line = [&] { lines.emplace_back(); };
  for (const std::string& piece : unbreakable(text)) {
    const std::size_t needed = display_width(without_trailing_blanks(piece));
    if (!lines.back().empty() && display_width(lines.back()) + needed > room) start_line();
    if (needed <= room) {
      lines.back() += piece;
      continue;
    }
    for (const std::string& character : characters(piece)) {
      if (display_width(lines.back()) >= room) start_line();
      lines.back() += character;
    }
  }
  for (std::string& line : lines) line = without_trailing_blanks(line);
  return lines;
}

std::string paragraph(std::string_view lead, std::string_view text, int columns) {
  const auto indent = display_width(lead);
  std::string result(lead);
  bool first = true;
  for (const std::string& line : wrapped(text, columns - static_cast<int>(indent))) {
    if (!first) result += std::string(indent, ' ');
    result += line + "\n";
    first = false;
  }
  return result;
}

}  // namespace huddle::picture
