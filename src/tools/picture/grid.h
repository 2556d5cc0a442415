// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A sheet of characters to draw on; nothing drawn outside it or over its edge survives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/color.h"

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

// Text for people: broken into lines, with hanging indents.

// The text in lines of at most `width` columns, broken at blanks and after commas; a word without
// either that is longer than a line is cut. At least one line, which may be empty.
std::vector<std::string> wrapped(std::string_view text, int width);

// A paragraph: the first line starts with `lead`, the others are indented as far.
std::string paragraph(std::string_view lead, std::string_view text, int columns);

}  // namespace huddle::picture
