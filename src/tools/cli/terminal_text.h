// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Text for terminals: line breaking, aligned tables and shades.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::cli {

// Prints `head` and the words of `text` in lines of at most `columns`; lines after the first are
// indented by `hang` spaces. A word that does not fit gets a line of its own that is too long,
// because paths and commands must not be broken. Ends with a line break.
std::string wrap(std::string_view head, std::string_view text, int hang, int columns);

// Returns the number of terminal columns that the text occupies.
int width_of(std::string_view text);

std::string spaces(int count);
// Pads the text with spaces to `width` columns.
std::string padded(std::string_view text, int width);

// Tables of names and numbers, aligned to the width of the terminal.
inline constexpr int column_gap = 2;  // blanks between two columns

// Returns a share as "12 %".
std::string percent(double share);

// The indent and the minimum width of the first column of a table.
struct TableLook {
  int indent = 0;        // of every row below the heading
  int name_columns = 0;  // minimum width if there is space, so that consecutive tables are aligned
};

class Table {
 public:
  using Row = std::vector<std::string>;  // a name, then numbers

  // Requires: every row has the same number of cells as the heading.
  Table(Row heading, TableLook look) : look_(look), rows_{std::move(heading)} {}
  void add(Row row) { rows_.push_back(std::move(row)); }

  // Breaks names that do not fit, or prints the numbers below them if hardly any space is left.
  std::string text(int columns) const;

 private:
  int indent_of(std::size_t row) const { return row == 0 ? 0 : look_.indent; }
  std::vector<int> widths(int least_figure_columns) const;
  int least_name_columns() const;  // smaller widths would break words
  std::string figures(const Row& row, const std::vector<int>& widths) const;

  TableLook look_;
  std::vector<Row> rows_;
};

// The range of amounts in a communication matrix that is drawn with shades.
struct ShadeRange {
  double least = 0, most = 0;  // smaller amounts than `least` are drawn like 0
  bool pale = false;           // only the lightest shade, because the amounts are uncertain
  bool unicode = true;
};

// The shades of the cells of a communication matrix, logarithmic over their range.
class Shading {
 public:
  // Requires: 0 <= least <= most.
  explicit Shading(const ShadeRange& range);

  // Returns a cell, two columns wide.
  std::string_view of(double amount) const;
  // Returns for example "·· none, ░░ to 5, ▒▒ to 22, ▓▓ to 103, ██ to 223". `blank`: the meaning of
  // the first shade; `text`: formats an amount. Leaves out shades whose limit has the same text as
  // that of the previous shade.
  std::string legend(std::string_view blank, const std::function<std::string(double)>& text) const;

 private:
  static constexpr std::size_t shades = 4;  // without the one for 0
  std::string_view character(std::size_t step) const;

  ShadeRange range_;
  std::array<double, shades> limits_{};  // the largest amount of each shade
};

}  // namespace huddle::cli
