// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A sheet of characters to draw on; nothing drawn outside it or over its edge survives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/ansi.h"

namespace huddle::picture {

class Grid {
 public:
  Grid(int width, int height);

  // One line of UTF-8 text; cut off at `room` columns (and at the edge of the sheet).
  void put(int x, int y, std::string_view text, const Ink& ink, int room);
  // The same character over and over.
  void fill(int x, int y, int count, std::string_view character, const Ink& ink);

  // Line by line, without trailing blanks.
  std::string text(bool color) const;

 private:
  struct Cell {
    std::string character = " ";
    Ink ink;
  };
  std::string line(int y, bool color) const;
  Cell* at(int x, int y);

  int width_;
  int height_;
  std::vector<Cell> cells_;
};

// The characters of a UTF-8 text, one string each.
std::vector<std::string> characters(std::string_view utf8);

}  // namespace huddle::picture
