// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/algorithm_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/machine_file.h"
#include "this_machine.h"

namespace huddle::bench {
namespace {

using select::Operation;
using testing::ElementsAre;

// Returns a machine whose file contains the cost of reading a peer's memory.
machine::Machine epyc() {
  return machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml");
}

Binding on_first(int ranks) {
  Binding binding{ranks, {}};
  for (int pu = 0; pu < ranks; ++pu) binding.pus.push_back(pu);
  return binding;
}

std::vector<OperationTable> predicted(bool may_read = true) {
  const machine::Machine machine = epyc();
  return algorithm_table(Forecast(machine, on_first(8), may_read));
}

const OperationTable& of(const std::vector<OperationTable>& tables, Operation operation) {
  return *std::find_if(tables.begin(), tables.end(),
                       [&](const OperationTable& one) { return one.operation == operation; });
}

std::vector<std::string_view> algorithms(const OperationTable& table) {
  std::vector<std::string_view> names;
  for (const AlgorithmRow& row : table.rows) names.push_back(row.algorithm);
  return names;
}

TEST(AlgorithmTable, HasEveryOperationOnce) {
  std::vector<Operation> shown;
  for (const OperationTable& one : predicted()) {
    shown.push_back(one.operation);
    for (const Relative& relative : one.relatives) shown.push_back(relative.operation);
  }
  EXPECT_THAT(shown, testing::UnorderedElementsAreArray(select::operations));
}

TEST(AlgorithmTable, HasEveryAlgorithmEvenIfItCannotServe) {
  for (const bool may_read : {true, false}) {
    const auto tables = predicted(may_read);
    EXPECT_THAT(algorithms(of(tables, Operation::bcast)),
                ElementsAre("inline", "pipelined", "segmented", "direct"));
    EXPECT_THAT(algorithms(of(tables, Operation::scan)), ElementsAre("exchange", "slices"));
  }
}

TEST(AlgorithmTable, LeavesCellsEmptyThatCannotBeServed) {
  const OperationTable bcast = of(predicted(), Operation::bcast);
  const AlgorithmRow& little = bcast.rows.front();
  EXPECT_EQ(little.needs, "at most 256 bytes");
  EXPECT_TRUE(little.cells.front().has_value());
  EXPECT_FALSE(little.cells.back().has_value());
  EXPECT_TRUE(bcast.rows.back().cells.back().has_value());
  EXPECT_FALSE(of(predicted(false), Operation::bcast).rows.back().cells.back().has_value());
}

TEST(AlgorithmTable, MarksTheCheapestOfEachSize) {
  for (const OperationTable& table : predicted()) {
    for (std::size_t i = 0; i < table.bytes.size(); ++i) {
      const Cell* chosen = nullptr;
      double least_ns = 1e300;
      for (const AlgorithmRow& row : table.rows) {
        if (!row.cells[i]) continue;
        least_ns = std::min(least_ns, row.cells[i]->best.ns);
        if (!row.cells[i]->chosen) continue;
        EXPECT_EQ(chosen, nullptr) << name(table.operation);
        chosen = &*row.cells[i];
      }
      ASSERT_NE(chosen, nullptr) << name(table.operation);
      EXPECT_EQ(chosen->best.ns, least_ns) << name(table.operation);
    }
  }
}

TEST(AlgorithmTable, NamesRelativesAndTheirAlgorithms) {
  const auto tables = predicted();
  const OperationTable alltoallv = of(tables, Operation::alltoallv);
  ASSERT_EQ(alltoallv.relatives.size(), 1U);
  EXPECT_EQ(alltoallv.relatives.front().operation, Operation::alltoallw);
  EXPECT_THAT(alltoallv.relatives.front().algorithms, ElementsAre("announced", "pairwise"));
  EXPECT_TRUE(of(tables, Operation::alltoall).relatives.empty());
  ASSERT_EQ(of(tables, Operation::allgather).relatives.size(), 1U);
  EXPECT_EQ(of(tables, Operation::allgather).relatives.front().operation, Operation::allgatherv);
  EXPECT_TRUE(of(tables, Operation::bcast).relatives.empty());
}

// Blocks are counted individually; data that are reduced to blocks count as a whole.
TEST(AlgorithmTable, PredictsTheTimedCalls) {
  const machine::Machine machine = epyc();
  const Forecast forecast(machine, on_first(8), true);
  const auto tables = algorithm_table(forecast);
  const auto least_ns = [&](Operation operation) {
    double ns = 1e300;
    for (const AlgorithmRow& row : of(tables, operation).rows) {
      if (row.cells.back()) ns = std::min(ns, row.cells.back()->best.ns);
    }
    return ns;
  };
  constexpr std::size_t bytes = std::size_t{4} << 20;
  EXPECT_EQ(least_ns(Operation::scan), forecast.cheapest_ns({Operation::scan, bytes, 8}));
  EXPECT_EQ(least_ns(Operation::reduce_scatter_block),
            forecast.cheapest_ns({Operation::reduce_scatter_block, 8 * bytes, 8}));
}

// run_comparison() checks every result.
TEST(AlgorithmTable, IsMeasured) {
  const Binding binding{3, test_pus()};
  const machine::Machine machine = test_machine();
  auto tables = algorithm_table(Forecast(machine, binding));
  constexpr std::size_t first = 0;
  for (OperationTable& table : tables) {
    SCOPED_TRACE(name(table.operation));
    for (const std::size_t column : {first, table.bytes.size() / 2}) {
      const Comparison comparison = comparison_at(table, column, binding, {.quick = true});
      enter(hold_quietly(comparison), table, column);
      std::size_t entry = 0;
      for (const AlgorithmRow& row : table.rows) {
        if (!row.cells[column]) continue;
        EXPECT_THAT(comparison.entries[entry++].name,
                    testing::StartsWith(std::string(row.algorithm)));
        EXPECT_EQ(row.cells[column]->ns.size(), 1U);
        EXPECT_GT(row.cells[column]->ns.front(), 0);
      }
    }
  }
}

}  // namespace
}  // namespace huddle::bench
