// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <algorithm>

#include "base/text.h"
#include "cli/bench_table_report.h"
#include "cli/table.h"
#include "cli/wrap.h"

namespace huddle::cli {
namespace {

constexpr int widest = 100;  // a figure far from its name is hard to find
// Figures of all tables stand in the same columns: "dissemination" is the longest name.
constexpr TableLook look = {.indent = 2, .name_columns = 15};
constexpr int indent = 2;

std::string size_heading(std::size_t bytes) {
  return bytes == 0 ? "-" : size_text(static_cast<double>(bytes));
}

std::string cell_text(const std::optional<contest::Cell>& cell) {
  if (!cell) return "-";
  return (cell->chosen ? "*" : "") + figures_text(*cell);
}

std::string table_text(const contest::OperationTable& one, int columns) {
  Table::Row heading = {""};
  for (const std::size_t bytes : one.bytes) heading.push_back(size_heading(bytes));
  Table table(heading, look);
  for (const contest::AlgorithmRow& row : one.rows) {
    Table::Row cells = {std::string(row.algorithm)};
    for (const auto& cell : row.cells) cells.push_back(cell_text(cell));
    table.add(std::move(cells));
  }
  std::string all = "\n" + wrap("", operation_text(one), indent, columns) + table.text(columns);
  const auto add = [&](const std::string& words) {
    all += wrap(spaces(indent), words, 2 * indent, columns);
  };
  for (const contest::AlgorithmRow& row : one.rows) {
    add(std::string(row.algorithm) + " needs: " + needs_text(row));
  }
  return all;
}

}  // namespace

std::string bench_table_text(const BenchTableReport& report, int columns) {
  columns = std::min(columns, widest);
  std::string all = wrap("", bench_table_ground(report, "*"), 0, columns);
  for (const auto& table : report.tables) all += table_text(table, columns);
  return all;
}

}  // namespace huddle::cli
