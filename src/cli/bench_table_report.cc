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

std::string relative_text(const contest::OperationTable& table,
                          const std::vector<std::string_view>& names,
                          const std::vector<std::string_view>& algorithms) {
  const bool all = std::equal(
      algorithms.begin(), algorithms.end(), table.rows.begin(), table.rows.end(),
      [](std::string_view algorithm, const auto& row) { return algorithm == row.algorithm; });
  return fmt::format("{}: {}", fmt::join(names, ", "),
                     all ? "the same" : fmt::format("{}", fmt::join(algorithms, ", ")));
}

// One for those alike.
std::vector<std::string> relatives_texts(const contest::OperationTable& table) {
  std::vector<std::string> texts;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < table.relatives.size(); ++i) {
    const auto& [operation, algorithms] = table.relatives[i];
    names.push_back(name(operation));
    const bool goes_on =
        i + 1 < table.relatives.size() && table.relatives[i + 1].algorithms == algorithms;
    if (goes_on) continue;
    texts.push_back(relative_text(table, names, algorithms));
    names.clear();
  }
  return texts;
}

}  // namespace

std::string bench_table_ground(const BenchTableReport& report, std::string_view mark_of_choice) {
  const contest::Seating& seating = report.seating;
  return fmt::format("{}; {}; microseconds, {}; {} is what huddle chooses",
                     machine_text(report.machine, report.machine_file),
                     report.dry_run ? counted(seating.ranks, "rank") : text(seating),
                     report.dry_run ? "predicted" : "predicted/measured", mark_of_choice);
}

std::string figures_text(const contest::Cell& cell) {
  const std::string predicted = microseconds_text(cell.best.ns);
  if (cell.ns.empty()) return predicted;
  return predicted + "/" + microseconds_text(calibrate::median_of(cell.ns));
}

std::string needs_text(const contest::AlgorithmRow& row) {
  return row.needs.empty() ? "nothing" : row.needs;
}

std::string operation_text(const contest::OperationTable& table) {
  const std::vector<std::string> relatives = relatives_texts(table);
  if (relatives.empty()) return std::string(name(table.operation));
  return fmt::format("{} ({})", name(table.operation), fmt::join(relatives, "; "));
}

}  // namespace huddle::cli
