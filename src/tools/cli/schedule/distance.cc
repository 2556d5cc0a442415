// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle distance`: measures how far the messages of a collective travel in rank order.

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/text.h"
#include "runtime/schedules/distance.h"
#include "simulate/network/simulation.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/net_options.h"
#include "tools/cli/schedule/schedule_report.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/chart.h"

namespace huddle::cli {
namespace {

constexpr int name_columns =
    22;  // "reduce_scatter:halving": columns of consecutive tables are aligned

std::string decimal(const std::optional<schedules::Fraction>& fraction) {
  return fraction ? fmt::format("{:.4g}", fraction->value()) : "-";
}
std::string exact(const std::optional<schedules::Fraction>& fraction) {
  return fraction ? fraction->text() : "-";
}

double sort_key(const DistanceRow& row) { return row.counted ? row.counted->value() : 0; }

bool any_form(const std::vector<DistancePoint>& points) {
  return std::any_of(points.begin(), points.end(), [](const DistancePoint& point) {
    return std::any_of(point.rows.begin(), point.rows.end(),
                       [](const DistanceRow& row) { return row.closed.has_value(); });
  });
}

// Shows the switch levels that messages pass and the load of the fullest link.
std::string travel_text(const DistancePoint& point, int columns) {
  std::string text;
  Table::Row heading = {"highest switch", "leaf"};
  const std::size_t heights = point.rows.front().travel->by_height.size();
  for (std::size_t height = 1; height < heights; ++height) {
    heading.push_back(fmt::format("leaf + {}", height));
  }
  heading.push_back("busiest link");
  Table table(heading, {2, name_columns});
  for (const DistanceRow& row : point.rows) {
    Table::Row cells = {row.algorithm};
    for (const network::LevelTraffic& level : row.travel->by_height) {
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
    if (with_forms) heading.insert(heading.end(), {"by formula", "as published"});
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

// Returns the switch levels that messages pass.
// Requires: all rows were simulated on the same fabric.
BarChart::Group travels(const DistancePoint& point) {
  BarChart::Group group{"highest switch on the path of a message", {"leaf"}, {}};
  const std::size_t heights = point.rows.front().travel->by_height.size();
  for (std::size_t height = 1; height < heights; ++height) {
    group.part_names.push_back(fmt::format("leaf + {}", height));
  }
  for (const DistanceRow& row : point.rows) {
    BarChart::Bar bar{row.algorithm, {}, ""};
    for (const network::LevelTraffic& level : row.travel->by_height) {
      bar.parts.push_back(level.messages / std::max(1.0, row.travel->messages));
    }
    group.bars.push_back(bar);
  }
  return group;
}

BarChart::Group fullest_links(const DistancePoint& point) {
  BarChart::Group group{"blocks over the busiest link", {}, {}};
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

namespace {

class DistanceCommand : public Command {
 public:
  std::string name() const override { return "distance"; }
  std::string summary() const override {
    return "show how far the messages of a collective between nodes travel";
  }
  std::string description() const override {
    return "Shows how far messages travel in each algorithm of a collective between nodes: D, the "
           "average of |i - j| over all messages from rank i to rank j. If ranks with similar "
           "numbers are near each other, a small D means few messages over long distances. D is "
           "counted exactly, from the checked schedules. Beside it are the value of a formula, if "
           "there is one, and the value in the paper that defines D, if it differs. With --fabric, "
           "and one rank per node, it also shows how many messages stay below one switch, how many "
           "cross one more level and so on, and how many blocks the busiest link carries.";
  }
  std::string examples() const override {
    return "  huddle distance allgather --ranks 8,10,16\n"
           "  huddle distance allgather --ranks 2..64 --json | jq '.points[]'\n"
           "  huddle distance allgather --ranks 2..256 --svg distance.svg\n"
           "  huddle distance allgather:bruck --radix 4 --ranks 64\n"
           "  huddle distance allgather -n 256 --fabric machines/fabrics/dragonfly.toml \\\n"
           "                  --placement round-robin";
  }

  void declare(Options& options) override {
    options.positional("OPERATION", operation_, "a collective, or one of its algorithms");
    options.complete("OPERATION", Value::word, algorithm_words());
    options.text("-n,--ranks", ranks_, "N", "numbers of ranks: 8, 2..64 or 8,16,32");
    call_.declare(options);
    fabric_.declare(options);
    options.text("--svg", svg_, "FILE", "write an SVG picture to FILE, or to standard output (-)");
    options.flag("--json", json_, "print everything as JSON");
    options.exclude("--svg", "--json");
  }

  ExitCode run(const Context& context) override {
    if (operation_.empty()) {
      throw UsageError(
          "the collective is missing, for example: huddle distance allgather --ranks 16");
    }
    const auto algorithms = algorithms_from(operation_);
    if (ranks_.empty()) {
      throw UsageError("the number of ranks is missing, for example: huddle distance " +
                       operation_ + " --ranks 16");
    }
    const std::vector<int> counts = rank_counts_from(ranks_);
    if (!svg_.empty() && fabric_.given() && counts.size() > 1) {
      throw UsageError(
          "a picture of messages on a fabric requires one number of ranks, such as --ranks 64");
    }
    std::optional<fabric::Cluster> cluster;
    if (fabric_.given()) cluster = fabric_.cluster(context);
    std::vector<DistancePoint> points;
    for (const int ranks : counts) {
      points.push_back(point_of(algorithms, call_.call(ranks)));
      if (cluster) travel(*cluster, algorithms, points.back());
    }
    if (!svg_.empty()) {
      context.console.deliver(svg_, distance_svg(operation_, points));
      return ExitCode::fine;
    }
    context.console.print(json_ ? distance_json(operation_, points)
                                : distance_text(points, context.console.columns));
    return ExitCode::fine;
  }

 private:
  static DistancePoint point_of(const std::vector<schedules::Algorithm>& algorithms,
                                const schedules::Call& call) {
    DistancePoint point{call.ranks, {}};
    for (const schedules::Algorithm& algorithm : algorithms) {
      point.rows.push_back({algorithm.full_name(),
                            schedules::counted_distance(*schedules::make_schedule(algorithm, call)),
                            schedules::closed_distance(algorithm, call),
                            schedules::printed_distance(algorithm, call),
                            {}});
    }
    return point;
  }

  // Uses blocks of one byte, so that bytes count blocks.
  void travel(const fabric::Cluster& cluster, const std::vector<schedules::Algorithm>& algorithms,
              DistancePoint& point) const {
    const std::vector<int> nodes = fabric_.nodes(cluster, point.ranks);
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      const auto schedule = schedules::make_schedule(algorithms[i], call_.call(point.ranks));
      point.rows[i].travel = network::simulate(cluster, nodes, *schedule, 1);
    }
  }

  std::string operation_, ranks_, svg_;
  NetCallOptions call_;
  FabricOptions fabric_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_distance_command() { return std::make_unique<DistanceCommand>(); }

}  // namespace huddle::cli
