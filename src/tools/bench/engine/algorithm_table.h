// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every algorithm of every operation at a few sizes: what it needs, what it was predicted to take,
// and what it takes.
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
  select::Candidate best;  // its cheapest plan there
  bool chosen = false;     // cheaper than any other's
  std::vector<double> ns;  // a call, one figure a round; empty: not measured
  std::optional<double> simulated_ns = std::nullopt;  // where that was asked for
};

struct AlgorithmRow {
  std::string_view algorithm;
  std::string needs;                       // empty: nothing
  std::vector<std::optional<Cell>> cells;  // by size; none where it cannot serve
};

// Another operation that the same algorithms serve.
struct Relative {
  select::Operation operation = select::Operation::barrier;
  std::vector<std::string_view> algorithms;
};

struct OperationTable {
  select::Operation operation = select::Operation::barrier;
  std::vector<Relative> relatives;  // whose blocks may differ
  std::vector<std::size_t> bytes;   // as a CallData has them; of a barrier none: 0
  std::vector<AlgorithmRow> rows;
};

// The sizes of all operations but the barrier.
std::vector<std::size_t> table_sizes();

// All operations, as predicted.
std::vector<OperationTable> algorithm_table(const Forecast& forecast);

// Each algorithm's protocol in the modelled world. pre: ranks do not share processors.
void simulate(std::vector<OperationTable>& tables, const Forecast& forecast);

// Those who can serve at one size, against each other.
Comparison comparison_at(const OperationTable& table, std::size_t column, const Binding& binding,
                         const Scale& scale);
// What came out of it.
void enter(const Result& result, OperationTable& table, std::size_t column);

}  // namespace huddle::bench
