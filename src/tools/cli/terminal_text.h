// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::cli {

// Breaks text into lines that fit.

// The words of `text` behind `head`, in lines of at most `columns`; lines after the first start
// with as many spaces as `hang` says. A word that does not fit stands alone on a line that is too
// long: a path or a command has to stay in one piece. Ends with a line break.
std::string wrap(std::string_view head, std::string_view text, int hang, int columns);

// Returns the columns that the text takes on a terminal.
int width_of(std::string_view text);

std::string spaces(int count);
// The text and as many spaces as it takes to fill `width` columns.
std::string padded(std::string_view text, int width);

// Names and their figures, aligned, in as many columns as the terminal has.
inline constexpr int column_gap = 2;  // blanks between two columns

// Returns a share as "12 %".
std::string percent(double share);

// The indent and the least width of the first column of a table.
struct TableLook {
  int indent = 0;        // of every row below the heading
  int name_columns = 0;  // at least so wide where there is room: tables below one another align
};

class Table {
 public:
  using Row = std::vector<std::string>;  // a name, then figures

  // pre: every row has as many cells as the heading.
  Table(Row heading, TableLook look) : look_(look), rows_{std::move(heading)} {}
  void add(Row row) { rows_.push_back(std::move(row)); }

  // Names that do not fit are broken; where hardly any room is left for them, the figures stand
  // below.
  std::string text(int columns) const;

 private:
  int indent_of(std::size_t row) const { return row == 0 ? 0 : look_.indent; }
  std::vector<int> widths(int least_figure_columns) const;
  int least_name_columns() const;  // below that a word would have to be cut
  std::string figures(const Row& row, const std::vector<int>& widths) const;

  TableLook look_;
  std::vector<Row> rows_;
};

// A cell of a matrix of who talks to whom, two columns wide.

// Darker by factors, not by differences, from `least` to `most`; 0 stays apart.
std::string_view shade(double amount, double least, double most, bool unicode);

}  // namespace huddle::cli
