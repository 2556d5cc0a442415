// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/schedule_picture.h"

#include <gtest/gtest.h>

#include "runtime/schedules/algorithms.h"

namespace huddle::picture {
namespace {

RoundTables tables_of(const char* algorithm, int ranks, int most_cells) {
  return round_tables(
      *schedules::make_schedule(schedules::algorithm_named(algorithm), {.ranks = ranks}),
      most_cells);
}

TEST(RoundTables, HaveTheRoundOfEachEvent) {
  const RoundTables tables = tables_of("allgather:ring", 4, 100);
  EXPECT_EQ(tables.messages.at(1, 2), 0);
  EXPECT_EQ(tables.messages.at(2, 1), RoundTable::never);
  EXPECT_EQ(tables.blocks.at(1, 0), 0);
  EXPECT_EQ(tables.blocks.at(1, 3), 1);
  EXPECT_EQ(tables.blocks.at(1, 2), 2);
  EXPECT_EQ(tables.blocks.at(1, 1), RoundTable::never);
}

TEST(RoundTables, SummarizeMoreRanksThanCells) {
  const RoundTables tables = tables_of("allgather:ring", 5, 2);
  EXPECT_EQ(tables.messages.rows().items_a_cell(), 3);
  EXPECT_EQ(tables.messages.rows().cells(), 2);
  EXPECT_EQ(tables.messages.at(0, 1), 0);  // from 2 to 3, the first of all rounds
  EXPECT_EQ(tables.blocks.at(0, 1), 3);    // block 3 at rank 2, the last of all arrivals there
}

TEST(RoundTables, OfABarrierHaveOnlyMessages) {
  const RoundTables tables = tables_of("barrier:dissemination", 4, 100);
  EXPECT_EQ(tables.messages.at(0, 2), 1);
  EXPECT_EQ(tables.blocks.columns().cells(), 0);
}

}  // namespace
}  // namespace huddle::picture
