// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/bench_table_report.h"

namespace huddle::cli {
namespace {

using Cells = std::vector<std::string>;

std::string line(const Cells& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string cell_text(const std::optional<contest::Cell>& cell) {
  if (!cell) return "-";
  const std::string figures = figures_text(*cell);
  return cell->chosen ? "**" + figures + "**" : figures;
}

}  // namespace

std::string bench_table_markdown(const BenchTableReport& report) {
  Cells heading = {"operation", "by", "which needs"};
  for (const std::size_t bytes : contest::table_sizes()) {
    heading.push_back(size_text(static_cast<double>(bytes)));
  }
  std::string all = fmt::format(
      "{}. A barrier moves nothing: its figures stand in the first column.\n\n{}{}",
      bench_table_ground(report, "**bold**"), line(heading), line(Cells(heading.size(), "---")));
  for (const contest::OperationTable& table : report.tables) {
    std::string operation = operation_text(table);
    for (const contest::AlgorithmRow& row : table.rows) {
      Cells cells = {std::exchange(operation, ""), std::string(row.algorithm), needs_text(row)};
      for (const auto& cell : row.cells) cells.push_back(cell_text(cell));
      cells.resize(heading.size());
      all += line(cells);
    }
  }
  return all;
}

}  // namespace huddle::cli
