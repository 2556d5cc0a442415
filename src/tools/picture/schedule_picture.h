// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A schedule between nodes on one sheet: where there are few ranks and rounds, who sends to whom in
// each round and which blocks come with it; below that in which round a rank first sends to
// another, and in which round a block comes to a rank, in colours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::picture {

// In which round of a schedule something happens, as a table of ranks by ranks or by blocks. Where
// there are more of them than cells, a cell stands for as many as it takes.

// Rows or columns of a table.
class TableSide {
 public:
  TableSide(std::int64_t items, int most_cells)
      : items_(items),
        items_a_cell_(std::max<std::int64_t>(1, (items + most_cells - 1) / most_cells)) {}

  std::int64_t items() const { return items_; }
  std::int64_t items_a_cell() const { return items_a_cell_; }
  int cells() const { return static_cast<int>((items_ + items_a_cell_ - 1) / items_a_cell_); }
  int cell_of(std::int64_t item) const { return static_cast<int>(item / items_a_cell_); }

 private:
  std::int64_t items_;
  std::int64_t items_a_cell_;
};

class RoundTable {
 public:
  static constexpr std::int64_t never = -1;
  enum class Keeps { first, last };

  RoundTable(const TableSide& rows, const TableSide& columns, Keeps keeps);

  void note(std::int64_t row, std::int64_t column, std::int64_t round);

  const TableSide& rows() const { return rows_; }
  const TableSide& columns() const { return columns_; }
  std::int64_t at(int row, int column) const { return rounds_[place(row, column)]; }

 private:
  std::size_t place(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_.cells()) +
           static_cast<std::size_t>(column);
  }

  TableSide rows_;
  TableSide columns_;
  Keeps keeps_;
  std::vector<std::int64_t> rounds_;
};

struct RoundTables {
  RoundTable messages;  // the first from the row's rank to the column's
  RoundTable blocks;    // the last time that the column's block comes to the row's rank
};
RoundTables round_tables(const schedules::Schedule& schedule, int most_cells);

struct ScheduleSubject {
  const schedules::Schedule& schedule;
  std::string title;
  std::vector<std::string> notes;  // lines below it
};

// The same subject gives the same bytes.
std::string as_svg(const ScheduleSubject& subject);

}  // namespace huddle::picture
