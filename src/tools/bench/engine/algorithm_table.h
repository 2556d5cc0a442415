// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tables with every algorithm of every operation at a few sizes: its needs, its predicted time and
// its measured time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/select/operation.h"
#include "tools/bench/engine/comparison.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {

// One algorithm at one size.
struct Cell {
  select::Candidate best;  // the algorithm's cheapest plan at this size
  bool chosen = false;     // cheaper than every other algorithm
  std::vector<double> ns;  // per call, one value per round; empty: not measured
  std::optional<double> simulated_ns = std::nullopt;  // only if requested
};

struct AlgorithmRow {
  std::string_view algorithm;
  std::string needs;                       // resources it requires; empty: none
  std::vector<std::optional<Cell>> cells;  // by size; empty if the algorithm cannot serve it
};

// Another operation that the same algorithms serve.
struct Relative {
  select::Operation operation = select::Operation::barrier;
  std::vector<std::string_view> algorithms;
};

struct OperationTable {
  select::Operation operation = select::Operation::barrier;
  std::vector<Relative> relatives;  // with blocks of different sizes
  std::vector<std::size_t> bytes;   // as in CallData; 0 for a barrier
  std::vector<AlgorithmRow> rows;
};

// Returns the sizes in the tables of all operations except the barrier.
std::vector<std::size_t> table_sizes();

// Returns the tables of all operations, filled with predictions.
std::vector<OperationTable> algorithm_table(const Forecast& forecast);

// Adds the simulated time of each algorithm's protocol.
// Requires: ranks do not share hardware threads.
void simulate(std::vector<OperationTable>& tables, const Forecast& forecast);

// Returns a comparison of all algorithms that can serve the size of this column.
Comparison comparison_at(const OperationTable& table, std::size_t column, const Binding& binding,
                         const Scale& scale);
// Copies the measured times into the table's column.
void enter(const Result& result, OperationTable& table, std::size_t column);

}  // namespace huddle::bench
