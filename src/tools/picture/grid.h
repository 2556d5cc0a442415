// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A canvas of characters that clips at its edges, and text that is broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/color.h"

namespace huddle::picture {

class Grid {
 public:
  Grid(int width, int height);

  // Writes one line of UTF-8 text, cut off at `room` columns and at the edge.
  void put(int x, int y, std::string_view text, const Ink& ink, int room);
  // Writes the character `count` times.
  void fill(int x, int y, int count, std::string_view character, const Ink& ink);

  // Returns all lines without trailing blanks.
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

// Returns the characters of a UTF-8 text, one string each.
std::vector<std::string> characters(std::string_view utf8);

// Breaks the text into lines of at most `width` columns, at blanks and after commas. Cuts words
// that are longer than a line. Returns at least one line, which may be empty.
std::vector<std::string> wrapped(std::string_view text, int width);

// Returns a paragraph: the first line starts with `lead`, the others are indented by its width.
std::string paragraph(std::string_view lead, std::string_view text, int columns);

}  // namespace huddle::picture
