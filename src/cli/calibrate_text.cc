// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/calibrate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "calibrate/sizes.h"

namespace huddle::cli {
namespace {

using calibrate::Outcome;
using calibrate::Plan;
using machine::Curve;
using machine::Machine;
using machine::Topology;

constexpr int name_columns = 32;
constexpr int figure_columns = 9;

std::string heading(const Topology& topology) {
  const std::string model = topology.cpu_model.empty() ? "this machine" : topology.cpu_model;
  const int cores = core_count(topology);
  return fmt::format("{}, {} core{}", model, cores, cores == 1 ? "" : "s");
}

std::string rate_text(const Curve& curve, double bytes) {
  const double rate = bytes / time_at(curve, bytes);
  return rate < 10 ? fmt::format("{:.2f}", rate) : fmt::format("{:.1f}", rate);
}

// A table of rates: a row for each curve, a column for each size.
class RateTable {
 public:
  RateTable(const std::string& title, const std::vector<std::string>& columns,
            std::vector<double> bytes)
      : bytes_(std::move(bytes)), text_(fmt::format("\n{:<{}}", title, name_columns)) {
    for (const std::string& column : columns) {
      text_ += fmt::format("{:>{}}", column, figure_columns);
    }
    text_ += '\n';
  }
  // Sizes beyond what was measured stay empty.
  void row(const std::string& name, const Curve& curve) {
    text_ += fmt::format("  {:<{}}", name, name_columns - 2);
    for (const double bytes : bytes_) {
      const bool known = bytes <= curve.bytes.back() && bytes >= curve.bytes.front();
      text_ += fmt::format("{:>{}}", known ? rate_text(curve, bytes) : "-", figure_columns);
    }
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::vector<double> bytes_;
  std::string text_;
};

// An estimate that stands among measurements says so.
std::string step_text(double ns, machine::Origin origin) {
  return fmt::format("{}{:.1f}", origin == machine::Origin::measured ? "" : "~", ns);
}

std::string line_table(const Machine& machine) {
  std::string text = fmt::format("\n{:<{}}{:>12}{:>12}{:>14}{:>14}\n", "Line between two cores, ns",
                                 name_columns, "one way", "one line", "next reader", "next writer");
  for (const auto& cost : machine.line) {
    const bool measured = cost.origin == machine::Origin::measured;
    text += fmt::format("  {:<{}}{:>12.1f}{:>12.1f}{:>14}{:>14}\n",
                        cost.level + (measured ? "" : " (estimated)"), name_columns - 2,
                        cost.one_way_ns, cost.shared_ns,
                        step_text(cost.reader_step_ns, cost.steps_origin),
                        step_text(cost.writer_step_ns, cost.steps_origin));
  }
  if (text.find('~') != std::string::npos)
    text += "  ~ estimated: three cores have to meet there\n";
  return text;
}

std::string copy_table(const Machine& machine) {
  std::vector<std::string> columns;
  std::vector<double> bytes;
  constexpr double fits = 4;  // a copy of a quarter of a cache stays in it
  const auto caches = calibrate::cache_sizes(machine.topology);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    columns.push_back(fmt::format("L{}", i + 1));
    bytes.push_back(static_cast<double>(caches[i]) / fits);
  }
  RateTable table("Copy, GB/s each, in", columns, bytes);
  std::string rows;
  for (const auto& copy : machine.copy) {
    const std::string name = copy.copiers == 1
                                 ? "1 core"
                                 : fmt::format("{} cores at once, {}", copy.copiers, copy.level);
    table.row(name, copy.curve);
  }
  return table.text();
}

// Memory is the largest size of each curve, which differs from curve to curve.
std::string memory_copy_text(const Machine& machine) {
  std::vector<std::string> parts;
  for (const auto& copy : machine.copy) {
    parts.push_back(fmt::format("{} with {} core{}", rate_text(copy.curve, copy.curve.bytes.back()),
                                copy.copiers, copy.copiers == 1 ? "" : "s"));
  }
  return fmt::format("  {:<{}}{}\n", "in memory", name_columns - 2,
                     fmt::format("{}", fmt::join(parts, ", ")));
}

constexpr std::array<double, 4> shown_bytes = {1 << 10, 16 << 10, 256 << 10, 4 << 20};

RateTable table_by_size(const std::string& title) {
  std::vector<std::string> columns;
  for (const double bytes : shown_bytes) columns.push_back(size_text(bytes));
  return {title, columns, {shown_bytes.begin(), shown_bytes.end()}};
}

std::string handoff_table(const Machine& machine) {
  RateTable table = table_by_size("Hand-off, GB/s, by size");
  for (const auto& handoff : machine.handoff) {
    const auto kind = machine::handoff_names[static_cast<std::size_t>(handoff.kind)];
    table.row(fmt::format("{} {}", handoff.level, kind), handoff.curve);
  }
  return machine.handoff.empty() ? "" : table.text();
}

std::string path_table(const Machine& machine) {
  RateTable table = table_by_size("process_vm_readv, GB/s, by size");
  for (const auto& path : machine.paths) {
    table.row(fmt::format("{} core{}", path.copiers, path.copiers == 1 ? "" : "s at once"),
              path.curve);
  }
  return machine.paths.empty() ? "" : table.text();
}

std::string system_lines(const Machine& machine) {
  std::string text = "\nOne of each\n";
  for (const auto& cost : machine.memory) {
    text += fmt::format("  {:<{}}{}\n", "load from memory, " + cost.level, name_columns - 2,
                        time_text(cost.load_ns));
  }
  for (const auto& cost : machine.system) {
    text +=
        fmt::format("  {:<{}}{}\n", machine::system_call_names[static_cast<std::size_t>(cost.call)],
                    name_columns - 2, time_text(cost.ns));
  }
  return text;
}

}  // namespace

std::string plan_text(const Topology& topology, const Plan& plan) {
  std::string text = heading(topology) + fmt::format(": {} measured\n\n", plan.pus.size());
  text += fmt::format("{:<46}{:>14}{:>10}{:>12}\n", "step", "measurements", "seconds", "at most");
  for (const auto& step : plan.steps) {
    text += fmt::format("{:<46}{:>14}{:>10.1f}{:>12.1f}\n", step.name, step.seconds.size(),
                        step.expected_seconds(), step.limit_seconds);
  }
  text += fmt::format("{:<46}{:>14}{:>10.1f}{:>12.1f}\n", "all", "", plan.expected_seconds(),
                      plan.limit_seconds());
  return text;
}

std::string summary_text(const Outcome& outcome) {
  const Machine& machine = outcome.machine;
  std::string text = fmt::format("{}: {} measurements in {:.1f} s\n", heading(machine.topology),
                                 outcome.measurements, outcome.seconds);
  if (!machine.line.empty()) text += line_table(machine);
  text += copy_table(machine) + memory_copy_text(machine);
  text += handoff_table(machine) + path_table(machine) + system_lines(machine);
  return text;
}

}  // namespace huddle::cli
