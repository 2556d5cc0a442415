// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/grid.h"

#include <algorithm>

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

}  // namespace huddle::picture
