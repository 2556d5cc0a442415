// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/round_table.h"

#include <algorithm>

namespace huddle::picture {

RoundTable::RoundTable(const TableSide& rows, const TableSide& columns, Keeps keeps)
    : rows_(rows),
      columns_(columns),
      keeps_(keeps),
      rounds_(static_cast<std::size_t>(rows.cells()) * static_cast<std::size_t>(columns.cells()),
              never) {}

void RoundTable::note(std::int64_t row, std::int64_t column, std::int64_t round) {
  std::int64_t& noted = rounds_[place(rows_.cell_of(row), columns_.cell_of(column))];
  if (noted == never) {
    noted = round;
  } else {
    noted = keeps_ == Keeps::first ? std::min(noted, round) : std::max(noted, round);
  }
}

RoundTables round_tables(const net::Schedule& schedule, int most_cells) {
  const TableSide ranks(schedule.ranks(), most_cells);
  const TableSide blocks(schedule.blocks(), most_cells);
  RoundTables tables{{ranks, ranks, RoundTable::Keeps::first},
                     {ranks, blocks, RoundTable::Keeps::last}};
  net::Round round;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    const net::RoundSpan active = schedule.active(rank);
    for (std::int64_t number = active.first; number < active.last; ++number) {
      schedule.make(rank, number, round);
      for (const net::Message& send : round.sends) tables.messages.note(rank, send.peer, number);
      for (const net::Message& receive : round.receives) {
        net::for_each_block(receive.part.blocks,
                            [&](std::int64_t block) { tables.blocks.note(rank, block, number); });
      }
    }
  }
  return tables;
}

}  // namespace huddle::picture
