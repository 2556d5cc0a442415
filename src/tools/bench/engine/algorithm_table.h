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

// The plan and the times of an algorithm at one message size.
struct Cell {
  select::Candidate best;  // the algorithm's cheapest plan at this size
  bool chosen = false;     // predicted to be the cheapest at this size
  std::vector<double> ns;  // per call, one value per round; empty: not measured
  std::optional<double> simulated_ns = std::nullopt;  // only if requested
};

struct AlgorithmRow {
  std::string_view algorithm;
  std::string needs;                       // resources it requires; empty: none
  std::vector<std::optional<Cell>> cells;  // by column; empty if the size is not supported
};

// Another operation that the rows of a table cover, for example the v-form of the table's
// operation.
struct Relative {
  select::Operation operation = select::Operation::barrier;
  std::vector<std::string_view> algorithms;
};

struct OperationTable {
  select::Operation operation = select::Operation::barrier;
  std::vector<Relative> relatives;  // other operations that the rows cover
  std::vector<std::size_t> bytes;   // by column, as in CallData; 0 for a barrier
  std::vector<AlgorithmRow> rows;
};

// Returns the message sizes (columns) of all tables except the barrier's.
std::vector<std::size_t> table_sizes();

// Returns the tables of all operations, filled with predictions.
std::vector<OperationTable> algorithm_table(const Forecast& forecast);

// Adds the simulated time of each algorithm's protocol.
// Requires: ranks do not share hardware threads.
void simulate(std::vector<OperationTable>& tables, const Forecast& forecast);

// Returns a comparison with an entry for each algorithm that supports the size of this column.
Comparison comparison_at(const OperationTable& table, std::size_t column, const Binding& binding,
                         const Scale& scale);
// Copies the times that were measured for the column's comparison into the table.
void enter(const Result& result, OperationTable& table, std::size_t column);

}  // namespace huddle::bench
