// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/algorithm_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/arithmetic.h"
#include "common/text.h"
#include "runtime/select/algorithm.h"
#include "simulate/protocols/predict.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

using select::Operation;

// Calls up to this size take little longer than reading the clock, so several are timed in a row.
constexpr std::size_t most_series_bytes = KiB;
constexpr int table_calls_in_a_series = 32;
constexpr int table_barriers_in_a_series = 200;
constexpr int table_series_in_a_round = 16;

Calls calls_of(Operation operation, std::size_t bytes) {
  if (operation == Operation::barrier) return {operation, 0, table_barriers_in_a_series};
  return {operation, bytes, bytes <= most_series_bytes ? table_calls_in_a_series : 1};
}

std::vector<std::string_view> algorithms_of(Operation operation,
                                            const select::TeamResources& resources) {
  std::vector<std::string_view> names;
  for (const auto& one : select::algorithms(operation, resources)) names.push_back(one.name);
  return names;
}

// Returns the operation whose table covers `operation`: its regular form (alltoall for alltoallv)
// if both have the same algorithms, otherwise the first operation with the same regular form and
// the same algorithms.
Operation table_of(Operation operation, const select::TeamResources& resources) {
  const Operation regular = select::regular_form(operation);
  const auto served_alike = [&](Operation one) {
    return algorithms_of(one, resources) == algorithms_of(operation, resources);
  };
  if (served_alike(regular)) return regular;
  return *std::find_if(select::operations.begin(), select::operations.end(), [&](Operation one) {
    return select::regular_form(one) == regular && served_alike(one);
  });
}

std::vector<Relative> relatives_of(Operation operation, const select::TeamResources& resources) {
  std::vector<Relative> relatives;
  for (const Operation other : select::operations) {
    if (other == operation || table_of(other, resources) != operation) continue;
    relatives.push_back({other, algorithms_of(other, resources)});
  }
  return relatives;
}

void predict(OperationTable& table, std::size_t column, const Forecast& forecast) {
  const select::Request request =
      request_of(table.operation, table.bytes[column], forecast.locality.ranks());
  const std::vector<select::Candidate> best = forecast.best_of_each(request);
  const select::Candidate& chosen = select::cheapest(best);
  for (AlgorithmRow& row : table.rows) {
    const auto its = std::find_if(best.begin(), best.end(), [&](const select::Candidate& one) {
      return select::algorithm_name(one.plan) == row.algorithm;
    });
    if (its != best.end()) row.cells[column] = {*its, &*its == &chosen, {}, std::nullopt};
  }
}

void add_rows(OperationTable& table, const select::TeamResources& resources) {
  for (const auto& one : select::algorithms(table.operation, resources)) {
    table.rows.push_back({one.name, one.needs, {}});
    table.rows.back().cells.resize(table.bytes.size());
  }
}

OperationTable predicted(Operation operation, const Forecast& forecast) {
  OperationTable table{operation, relatives_of(operation, forecast.resources), table_sizes(), {}};
  if (operation == Operation::barrier) table.bytes = {0};
  add_rows(table, forecast.resources);
  for (std::size_t i = 0; i < table.bytes.size(); ++i) predict(table, i, forecast);
  return table;
}

std::unique_ptr<Implementation> implementation(const Calls& calls, const select::Plan& plan,
                                               int ranks) {
  if (calls.operation == Operation::barrier)
    return barrier_implementation(ranks, TeamBarrier(plan));
  return std::make_unique<TeamOperation>(calls, plan);
}

// Calls `visit` with each row whose algorithm supports the size of this column.
template <class Table, class Visit>
void each_there(Table& table, std::size_t column, Visit visit) {
  for (auto& row : table.rows) {
    if (row.cells[column]) visit(row);
  }
}

}  // namespace

std::vector<std::size_t> table_sizes() { return {8, KiB, 32 * KiB, 512 * KiB, 4 * MiB}; }

std::vector<OperationTable> algorithm_table(const Forecast& forecast) {
  std::vector<OperationTable> tables;
  for (const Operation operation : select::operations) {
    if (table_of(operation, forecast.resources) == operation) {
      tables.push_back(predicted(operation, forecast));
    }
  }
  return tables;
}

void simulate(std::vector<OperationTable>& tables, const Forecast& forecast) {
  for (OperationTable& table : tables) {
    for (std::size_t column = 0; column < table.bytes.size(); ++column) {
      const select::Request request =
          request_of(table.operation, table.bytes[column], forecast.locality.ranks());
      each_there(table, column, [&](AlgorithmRow& row) {
        Cell& cell = *row.cells[column];
        cell.simulated_ns =
            protocols::predict({request, forecast.locality, forecast.resources, forecast.model},
                               cell.best.plan)
                .all_ns();
      });
    }
  }
}

Comparison comparison_at(const OperationTable& table, std::size_t column, const Binding& binding,
                         const Scale& scale) {
  const std::size_t bytes = table.bytes[column];
  const Calls calls = calls_of(table.operation, bytes);
  const bool moves = table.operation != Operation::barrier;
  Comparison comparison{
      .name = fmt::format("{}{}", select::name(table.operation),
                          moves ? " of " + size_text(static_cast<double>(bytes)) : ""),
      .binding = binding,
      .bytes = moves ? calls.buffer_bytes(binding.ranks) : 0,
      .entries = {},
      .judgements = {}};
  const int stretches = calls.in_a_stretch > 1 ? scale.stretches(table_series_in_a_round)
                                               : scale.single_calls(comparison.bytes);
  each_there(table, column, [&](const AlgorithmRow& row) {
    const select::Candidate& best = row.cells[column]->best;
    comparison.entries.push_back({.name = fmt::format("{}: {}", row.algorithm, best.parameters),
                                  .implementation = implementation(calls, best.plan, binding.ranks),
                                  .calls = calls.in_a_stretch,
                                  .stretches = stretches,
                                  .predicted_ns = best.ns});
    // The entry owns its implementation, but the analyzer does not see that.
  });  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)
  return comparison;
}

void enter(const Result& result, OperationTable& table, std::size_t column) {
  std::size_t entry = 0;
  each_there(table, column,
             [&](AlgorithmRow& row) { row.cells[column]->ns = result.entries[entry++].ns; });
}

}  // namespace huddle::bench
