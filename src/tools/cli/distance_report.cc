// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/distance_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/cli/console.h"
#include "tools/cli/table.h"

namespace huddle::cli {
namespace {

constexpr int name_columns = 22;  // "reduce_scatter:halving": tables below one another align

std::string decimal(const std::optional<net::Fraction>& fraction) {
  return fraction ? fmt::format("{:.4g}", fraction->value()) : "-";
}
std::string exact(const std::optional<net::Fraction>& fraction) {
  return fraction ? fraction->text() : "-";
}

double sort_key(const DistanceRow& row) { return row.counted ? row.counted->value() : 0; }

bool any_form(const std::vector<DistancePoint>& points) {
  return std::any_of(points.begin(), points.end(), [](const DistancePoint& point) {
    return std::any_of(point.rows.begin(), point.rows.end(),
                       [](const DistanceRow& row) { return row.closed.has_value(); });
  });
}

// By how many levels of switches messages go up, and what the fullest link carries.
std::string travel_text(const DistancePoint& point, int columns) {
  std::string text;
  Table::Row heading = {"messages that meet", "one switch"};
  const std::size_t heights = point.rows.front().travel->by_height.size();
  for (std::size_t height = 1; height < heights; ++height) {
    heading.push_back(fmt::format("{} higher", height));
  }
  heading.push_back("fullest link");
  Table table(heading, {2, name_columns});
  for (const DistanceRow& row : point.rows) {
    Table::Row cells = {row.algorithm};
    for (const sim::LevelTraffic& level : row.travel->by_height) {
      const double all = std::max(1.0, row.travel->messages);
      cells.push_back(fmt::format("{:.1f} %", 100 * level.messages / all));
    }
    cells.push_back(fmt::format("{}", row.travel->fullest_link_bytes));
    table.add(cells);
  }
  return table.text(columns);
}

}  // namespace

std::string distance_text(const std::vector<DistancePoint>& points, int columns) {
  const bool with_forms = any_form(points);
  std::string text;
  for (const DistancePoint& point : points) {
    Table::Row heading = {counted(point.ranks, "rank"), "D", "counted"};
    if (with_forms) heading.insert(heading.end(), {"by formula", "as printed"});
    Table table(heading, {2, name_columns});
    std::vector<DistanceRow> rows = point.rows;
    std::stable_sort(rows.begin(), rows.end(), [](const DistanceRow& a, const DistanceRow& b) {
      return sort_key(a) < sort_key(b);
    });
    for (const DistanceRow& row : rows) {
      Table::Row cells = {row.algorithm, decimal(row.counted), exact(row.counted)};
      if (with_forms) {
        cells.insert(cells.end(), {exact(row.closed), row.printed ? decimal(row.printed) : ""});
      }
      table.add(cells);
    }
    text += (text.empty() ? "" : "\n") + table.text(std::min(columns, most_table_columns));
    if (!point.rows.empty() && point.rows.front().travel) {
      text += "\n" + travel_text(point, std::min(columns, most_table_columns));
    }
  }
  return text;
}

}  // namespace huddle::cli
