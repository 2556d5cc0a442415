// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/bench_table_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "calibrate/statistics.h"
#include "cli/bench_text.h"

namespace huddle::cli {
namespace {

// Three digits that mean something, and no more than three behind the point.
std::string microseconds_text(double ns) {
  const double us = ns / 1000;
  const int decimals = us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", us, decimals);
}

}  // namespace

std::string bench_table_ground(const BenchTableReport& report, std::string_view mark_of_choice) {
  const contest::Seating& seating = report.seating;
  const std::string error = prediction_error_text(report.prediction_error());
  return fmt::format("{}; {}; microseconds, {}; {} is what huddle chooses{}{}",
                     machine_text(report.machine, report.machine_file),
                     report.dry_run ? counted(seating.ranks, "rank") : text(seating),
                     report.dry_run ? "predicted" : "predicted/measured", mark_of_choice,
                     error.empty() ? "" : "; ", error);
}

PredictionError BenchTableReport::prediction_error() const {
  std::vector<double> all;
  for (const contest::OperationTable& table : tables) {
    for (const contest::AlgorithmRow& row : table.rows) {
      for (const auto& cell : row.cells) {
        if (!cell || cell->ns.empty()) continue;
        all.push_back(times_off(cell->best.ns, calibrate::median_of(cell->ns)));
      }
    }
  }
  return cli::prediction_error(std::move(all));
}

std::string figures_text(const contest::Cell& cell) {
  std::string predicted = microseconds_text(cell.best.ns);
  if (cell.ns.empty()) return predicted;
  const double measured_ns = calibrate::median_of(cell.ns);
  const bool is_far = is_mispredicted(cell.best.ns, measured_ns);
  return fmt::format("{}/{}{}", predicted, microseconds_text(measured_ns),
                     is_far ? misprediction_mark : "");
}

std::string needs_text(const contest::AlgorithmRow& row) {
  return row.needs.empty() ? "nothing" : row.needs;
}

std::string operation_text(const contest::OperationTable& table) {
  std::vector<std::string_view> relatives;
  for (const contest::Relative& one : table.relatives) relatives.push_back(name(one.operation));
  if (relatives.empty()) return std::string(name(table.operation));
  return fmt::format("{} ({}: the same)", name(table.operation), fmt::join(relatives, ", "));
}

}  // namespace huddle::cli
