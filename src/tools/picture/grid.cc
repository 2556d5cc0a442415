// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/grid.h"

#include <algorithm>

#include "common/text.h"

namespace huddle::picture {

std::vector<std::string> characters(std::string_view utf8) {
  std::vector<std::string> result;
  for (const char byte : utf8) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
    if (!continues || result.empty()) result.emplace_back();
    result.back() += byte;
  }
  return result;
}

Grid::Grid(int width, int height)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

Grid::Cell* Grid::at(int x, int y) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return nullptr;
  return &cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x)];
}

void Grid::put(int x, int y, std::string_view text, const Ink& ink, int room) {
  int column = 0;
  for (const std::string& character : characters(text)) {
    if (column >= room) return;
    if (Cell* cell = at(x + column, y)) *cell = {character, ink};
    ++column;
  }
}

void Grid::fill(int x, int y, int count, std::string_view character, const Ink& ink) {
  for (int i = 0; i < count; ++i) put(x + i, y, character, ink, 1);
}

std::string Grid::line(int y, bool color) const {
  const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(y) * width_;
  auto end = begin + width_;
  const auto invisible = [color](const Cell& cell) {
    return cell.character == " " && !(color && cell.ink.ground);
  };
  while (end != begin && invisible(*(end - 1))) --end;
  std::string result;
  for (auto cell = begin; cell != end;) {
    std::string run;
    const auto first = cell;
    while (cell != end && cell->ink == first->ink) run += (cell++)->character;
    result += inked(run, first->ink, color);
  }
  return result;
}

std::string Grid::text(bool color) const {
  std::string result;
  for (int y = 0; y < height_; ++y) result += line(y, color) + "\n";
  return result;
}

namespace {

// Splits the text into pieces that may not be broken: words with the blanks that follow them, and
// list items with their commas.
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
