// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Names and their figures, aligned, in as many columns as the terminal has.
#pragma once

#include <string>
#include <vector>

namespace huddle::cli {

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

}  // namespace huddle::cli
