// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/sim_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/text.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"

namespace huddle::cli {
namespace {

std::string question(const Simulated& simulated) {
  return fmt::format("{}{} among {} of {} nodes, placed {}", simulated.operation,
                     simulated.moves ? " of " + size_text(simulated.bytes) : "", simulated.ranks,
                     simulated.cluster.fabric.nodes(), simulated.placement);
}

std::string ground(const fabric::Cluster& cluster, int columns) {
  std::string text = wrap(
      "",
      printable(fmt::format("{}: {}", cluster.fabric.name,
                            cluster.fabric.method.empty() ? "no word of where its figures are from"
                                                          : cluster.fabric.method)),
      2, columns);
  text += wrap("", printable("nodes: " + cluster.machine.name + ", " + cluster.network.name), 2,
               columns);
  for (const std::string& doubt : cluster.fabric.doubts) text += wrap("", doubt, 2, columns);
  return text;
}

std::string percent_of(double whole, double part) { return percent(whole > 0 ? part / whole : 0); }

// The two causes that most of the time went into.
std::string causes(const sim::Clock& end) {
  std::array<std::size_t, sim::cause_names.size()> order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&end](std::size_t a, std::size_t b) {
    return end.by_cause[a] > end.by_cause[b];
  });
  std::string text;
  for (const std::size_t cause : {order[0], order[1]}) {
    if (end.by_cause[cause] <= 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sim::cause_names[cause],
                        percent_of(end.ns, end.by_cause[cause]));
  }
  return text;
}

std::string all_of_them(const Simulated& simulated, int columns) {
  const bool judged = !simulated.judge.empty();
  Table::Row heading = {"algorithm", "time", "ratio", "rounds", "fullest link", "goes into"};
  if (judged) heading.insert(heading.begin() + 3, simulated.judge);
  Table table(heading, {});
  for (const SimulatedRow& row : simulated.rows) {
    const sim::Outcome& outcome = row.outcome;
    // The operation stands above all of them.
    Table::Row cells = {
        row.algorithm.substr(row.algorithm.find(':') + 1),
        time_text(outcome.end.ns),
        fmt::format("{:.2f}", outcome.end.ns / simulated.rows.front().outcome.end.ns),
        fmt::format("{}", outcome.rounds),
        size_text(outcome.fullest_link_bytes),
        causes(outcome.end)};
    if (judged) cells.insert(cells.begin() + 3, row.judge_ns ? time_text(*row.judge_ns) : "-");
    table.add(cells);
  }
  return table.text(columns);
}

std::string one_of_them(const Simulated& simulated, int columns) {
  const SimulatedRow& row = simulated.rows.front();
  const sim::Outcome& outcome = row.outcome;
  std::string text = fmt::format("{}: {} in {}\n", row.algorithm, time_text(outcome.end.ns),
                                 counted(outcome.rounds, "round"));
  if (row.judge_ns) {
    text += fmt::format("{}: {} ({:+.1f} %)\n", simulated.judge, time_text(*row.judge_ns),
                        100 * (*row.judge_ns / outcome.end.ns - 1));
  }
  if (!outcome.fullest_link.empty()) {
    text += wrap("",
                 fmt::format("fullest link: {}, {}", printable(outcome.fullest_link),
                             size_text(outcome.fullest_link_bytes)),
                 2, columns);
  }
  Table time({"time goes into", "time", "share"}, {2, 24});
  for (std::size_t cause = 0; cause < sim::cause_names.size(); ++cause) {
    const double ns = outcome.end.by_cause[cause];
    time.add({std::string(sim::cause_names[cause]), time_text(ns), percent_of(outcome.end.ns, ns)});
  }
  Table levels({"messages that meet", "messages", "share", "bytes", "share"}, {2, 24});
  for (std::size_t height = 0; height < outcome.by_height.size(); ++height) {
    const sim::LevelTraffic& level = outcome.by_height[height];
    levels.add({height == 0 ? std::string("beneath one switch") : fmt::format("{} higher", height),
                fmt::format("{}", level.messages), percent_of(outcome.messages, level.messages),
                size_text(level.bytes), percent_of(outcome.bytes, level.bytes)});
  }
  return text + "\n" + time.text(columns) + "\n" + levels.text(columns);
}

}  // namespace

std::string sim_text(const Simulated& simulated, const Console& console) {
  const int columns = std::min(console.columns, most_report_columns);
  std::string text = wrap("", question(simulated), 2, columns) + ground(simulated.cluster, columns);
  return text + "\n" +
         (simulated.rows.size() == 1 ? one_of_them(simulated, columns)
                                     : all_of_them(simulated, columns));
}

}  // namespace huddle::cli
