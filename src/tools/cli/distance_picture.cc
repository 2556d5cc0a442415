// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/cli/distance_report.h"
#include "tools/picture/chart.h"

namespace huddle::cli {
namespace {

using picture::BarChart;
using picture::LineChart;

constexpr const char* meaning = "mean of |i - j| over all messages (D)";

LineChart lines(const std::string& operation, const std::vector<DistancePoint>& points) {
  LineChart chart{"How far messages go: " + operation, "ranks", meaning, {}};
  for (std::size_t i = 0; i < points.front().rows.size(); ++i) {
    LineChart::Line line{points.front().rows[i].algorithm, {}};
    for (const DistancePoint& point : points) {
      const auto& counted = point.rows[i].counted;
      if (counted) line.points.push_back({static_cast<double>(point.ranks), counted->value()});
    }
    chart.lines.push_back(line);
  }
  return chart;
}

BarChart::Group distances(const DistancePoint& point) {
  BarChart::Group group{meaning, {}, {}};
  for (const DistanceRow& row : point.rows) {
    const double value = row.counted ? row.counted->value() : 0;
    group.bars.push_back(
        {row.algorithm, {value}, row.counted ? fmt::format("{:.4g}", value) : "-"});
  }
  return group;
}

// By how many levels of switches messages go up. pre: all rows have been on the same fabric.
BarChart::Group travels(const DistancePoint& point) {
  BarChart::Group group{"where sender and receiver of a message meet", {"one switch"}, {}};
  const std::size_t heights = point.rows.front().travel->by_height.size();
  for (std::size_t height = 1; height < heights; ++height) {
    group.part_names.push_back(fmt::format("{} higher", height));
  }
  for (const DistanceRow& row : point.rows) {
    BarChart::Bar bar{row.algorithm, {}, ""};
    for (const sim::LevelTraffic& level : row.travel->by_height) {
      bar.parts.push_back(level.messages / std::max(1.0, row.travel->messages));
    }
    group.bars.push_back(bar);
  }
  return group;
}

BarChart::Group fullest_links(const DistancePoint& point) {
  BarChart::Group group{"blocks over the fullest link", {}, {}};
  for (const DistanceRow& row : point.rows) {
    const double blocks = row.travel->fullest_link_bytes;
    group.bars.push_back({row.algorithm, {blocks}, fmt::format("{}", blocks)});
  }
  return group;
}

BarChart bars(const std::string& operation, const DistancePoint& point) {
  BarChart chart{
      fmt::format("How far messages go: {} among {}", operation, counted(point.ranks, "rank")),
      {distances(point)}};
  if (!point.rows.empty() && point.rows.front().travel) {
    chart.groups.push_back(travels(point));
    chart.groups.push_back(fullest_links(point));
  }
  return chart;
}

}  // namespace

std::string distance_svg(const std::string& operation, const std::vector<DistancePoint>& points) {
  return points.size() == 1 ? picture::as_svg(bars(operation, points.front()))
                            : picture::as_svg(lines(operation, points));
}

}  // namespace huddle::cli
