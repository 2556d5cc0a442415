// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "tools/calibrate/statistics.h"
#include "tools/cli/bench_engine.h"
#include "tools/cli/bench_table.h"
#include "tools/cli/machine_json.h"
#include "tools/cli/prediction_error_json.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json cell_json(std::size_t bytes, const bench::Cell& cell) {
  ordered_json one = {{"bytes", bytes},
                      {"parameters", cell.best.parameters},
                      {"chosen", cell.chosen},
                      {"predicted_ns", cell.best.ns}};
  if (cell.simulated_ns) one["simulated_ns"] = *cell.simulated_ns;
  if (!cell.ns.empty()) {
    const calibrate::Summary summary = calibrate::summarize(cell.ns);
    one["median_ns"] = summary.median;
    one["times_off"] = times_off(cell.best.ns, summary.median);
    if (cell.simulated_ns) {
      one["simulation_times_off"] = times_off(*cell.simulated_ns, summary.median);
    }
    one["spread"] = summary.spread;
  }
  one["ns"] = cell.ns;
  return one;
}

ordered_json row_json(const std::vector<std::size_t>& bytes, const bench::AlgorithmRow& row) {
  ordered_json points = ordered_json::array();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (row.cells[i]) points.push_back(cell_json(bytes[i], *row.cells[i]));
  }
  return {{"algorithm", row.algorithm}, {"needs", row.needs}, {"points", points}};
}

ordered_json table_json(const bench::OperationTable& table) {
  ordered_json one = {{"operation", name(table.operation)},
                      {"relatives", ordered_json::array()},
                      {"algorithms", ordered_json::array()}};
  for (const auto& [operation, algorithms] : table.relatives) {
    one["relatives"].push_back({{"operation", name(operation)}, {"algorithms", algorithms}});
  }
  for (const auto& row : table.rows) one["algorithms"].push_back(row_json(table.bytes, row));
  return one;
}

}  // namespace

std::string bench_table_json(const BenchTableReport& report) {
  ordered_json root = {{"schema", bench_json_schema},
                       {"command", "bench"},
                       {"what", "table"},
                       {"huddle", huddle_version()},
                       {"machine", report.machine.name},
                       {"fingerprint", fingerprint(report.machine.topology)},
                       {"machine_file", report.machine_file},
                       {"calibrated", calibrated(report.machine)},
                       {"ranks", report.binding.ranks},
                       {"pus", report.binding.pus},
                       {"crowded", report.binding.crowded()},
                       {"dry_run", report.dry_run},
                       {"quick", report.quick},
                       {"rounds", report.rounds},
                       {"interrupted", report.interrupted},
                       {"notes", report.notes},
                       {"operations", ordered_json::array()}};
  for (const auto& table : report.tables) root["operations"].push_back(table_json(table));
  add_prediction_error(root, report.prediction_error());
  const PredictionError simulation = report.simulation_error();
  if (simulation.points > 0) {
    root["simulation_error"] = {{"points", simulation.points},
                                {"median_times_off", simulation.median_times_off}};
  }
  const BenchTableReport::Choices choices = report.choices();
  if (choices.points > 0) {
    root["choices"] = {{"points", choices.points}, {"near_best", choices.near_best}};
  }
  return json_text(root);
}

}  // namespace huddle::cli
