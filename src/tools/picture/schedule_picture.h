// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A schedule between nodes on one sheet. With few ranks and rounds it shows the messages of each
// round and their blocks. Below that, heat maps show the round in which a rank first sends to
// another, and the round in which a block arrives at a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::picture {

// The rows or columns of a table of rounds, by rank or by block. If there are more items than
// cells, a cell stands for several consecutive items.
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
  RoundTable messages;  // the first message from the row's rank to the column's rank
  RoundTable blocks;    // the last arrival of the column's block at the row's rank
};
RoundTables round_tables(const schedules::Schedule& schedule, int most_cells);

struct ScheduleSubject {
  const schedules::Schedule& schedule;
  std::string title;
  std::vector<std::string> notes;  // lines below it
};

// Returns an SVG document. Equal subjects give equal bytes.
std::string as_svg(const ScheduleSubject& subject);

}  // namespace huddle::picture
