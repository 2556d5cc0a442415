// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <vector>

#include "common/text.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/cli/calibrate/calibrate_report.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using calibrate::Outcome;
using calibrate::Plan;
using machine::Curve;
using machine::Machine;
using machine::Topology;

// The columns of all result tables are aligned.
constexpr TableLook calibration_look = {.indent = 2, .name_columns = 32};

std::string heading(const Topology& topology) {
  const std::string model = topology.cpu_model.empty() ? "this machine" : topology.cpu_model;
  const int cores = core_count(topology);
  return fmt::format("{}, {} core{}", model, cores, cores == 1 ? "" : "s");
}

// Marks estimates, because they appear next to measurements.
std::string marked(const std::string& figure, machine::Origin origin) {
  return (origin == machine::Origin::measured ? "" : "~") + figure;
}

std::string ns_text(double ns, machine::Origin origin) {
  return marked(fmt::format("{:.1f}", ns), origin);
}

std::string rate_text(const Curve& curve, double bytes, machine::Origin origin) {
  const double rate = bytes / time_at(curve, bytes);
  return marked(rate < 10 ? fmt::format("{:.2f}", rate) : fmt::format("{:.1f}", rate), origin);
}

// Headings of the columns with rates, and their sizes.
struct Sizes {
  std::vector<std::string> names;
  std::vector<double> bytes;
};

// A table of rates: a row for each curve, a column for each size.
class RateTable {
 public:
  RateTable(const std::string& title, const Sizes& sizes)
      : bytes_(sizes.bytes), table_(heading_of(title, sizes), calibration_look) {}
  // Sizes outside the measured range are shown as "-".
  void row(const std::string& name, const Curve& curve, machine::Origin origin) {
    Table::Row cells = {name};
    for (const double bytes : bytes_) {
      const bool known = bytes <= curve.bytes.back() && bytes >= curve.bytes.front();
      cells.push_back(known ? rate_text(curve, bytes, origin) : "-");
    }
    table_.add(std::move(cells));
  }
  std::string text(int columns) const { return "\n" + table_.text(columns); }

 private:
  static Table::Row heading_of(const std::string& title, const Sizes& sizes) {
    Table::Row cells = {title};
    cells.insert(cells.end(), sizes.names.begin(), sizes.names.end());
    return cells;
  }

  std::vector<double> bytes_;
  Table table_;
};

std::string line_table(const Machine& machine, int columns) {
  Table table({"Core-to-core latency, ns", "one way", "one line", "per further reader",
               "per further writer"},
              calibration_look);
  for (const auto& cost : machine.line) {
    table.add({cost.level, ns_text(cost.one_way_ns, cost.origin),
               ns_text(cost.shared_ns, cost.origin),
               ns_text(cost.reader_step_ns, cost.steps_origin),
               ns_text(cost.writer_step_ns, cost.steps_origin)});
  }
  return machine.line.empty() ? "" : "\n" + table.text(columns);
}

Sizes sizes_within_caches(const Machine& machine) {
  constexpr double fits = 4;  // a copy of a quarter of a cache stays in it
  Sizes sizes;
  const auto caches = calibrate::cache_sizes(machine.topology);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    sizes.names.push_back(fmt::format("L{}", i + 1));
    sizes.bytes.push_back(static_cast<double>(caches[i]) / fits);
  }
  return sizes;
}

std::string copy_table(const Machine& machine, int columns) {
  RateTable table("Copy, GB/s per core, in", sizes_within_caches(machine));
  for (const auto& copy : machine.copy) {
    const std::string name = copy.copiers == 1
                                 ? "1 core"
                                 : fmt::format("{} cores at once, {}", copy.copiers, copy.level);
    table.row(name, copy.curve, copy.origin);
  }
  return table.text(columns);
}

// Returns the rates of copies in memory, which are those of the largest size of each curve.
std::string memory_copy_text(const Machine& machine, int columns) {
  std::vector<std::string> parts;
  for (const auto& copy : machine.copy) {
    parts.push_back(fmt::format("{} with {} core{}",
                                rate_text(copy.curve, copy.curve.bytes.back(), copy.origin),
                                copy.copiers, copy.copiers == 1 ? "" : "s"));
  }
  const std::string head = spaces(calibration_look.indent) + "in memory: ";
  return wrap(head, fmt::format("{}", fmt::join(parts, ", ")), 2 * calibration_look.indent,
              columns);
}

RateTable table_by_size(const std::string& title) {
  static constexpr std::array<double, 4> shown_bytes = {1 << 10, 16 << 10, 256 << 10, 4 << 20};
  Sizes sizes;
  for (const double bytes : shown_bytes) {
    sizes.names.push_back(size_text(bytes));
    sizes.bytes.push_back(bytes);
  }
  return {title, sizes};
}

std::string handoff_table(const Machine& machine, int columns) {
  RateTable table = table_by_size("Hand-off, GB/s, by size");
  for (const auto& handoff : machine.handoff) {
    const auto kind = machine::handoff_names[static_cast<std::size_t>(handoff.kind)];
    table.row(fmt::format("{} {}", handoff.level, kind), handoff.curve, handoff.origin);
  }
  return machine.handoff.empty() ? "" : table.text(columns);
}

std::string path_table(const Machine& machine, int columns) {
  RateTable table = table_by_size("Single copy, GB/s, by size");
  for (const auto& path : machine.paths) {
    table.row(path.level.empty() ? fmt::format("{}, {} core{}", path.path, path.copiers,
                                               path.copiers == 1 ? "" : "s at once")
                                 : fmt::format("{}, level {}", path.path, path.level),
              path.curve, path.origin);
  }
  return machine.paths.empty() ? "" : table.text(columns);
}

std::string system_table(const Machine& machine, int columns) {
  Table table({"Single operations", ""}, calibration_look);
  for (const auto& cost : machine.memory) {
    table.add({"load from memory, " + cost.level, marked(time_text(cost.load_ns), cost.origin)});
  }
  for (const auto& cost : machine.system) {
    table.add({std::string(machine::system_call_names[static_cast<std::size_t>(cost.call)]),
               marked(time_text(cost.ns), cost.origin)});
  }
  for (const auto& cost : machine.arrays) {
    const std::string place = cost.place == machine::ArrayPlace::heap
                                  ? "an array in the shared heap"
                                  : "the program's own array";
    table.add({"random read in " + place, marked(time_text(cost.load_ns), cost.origin)});
    table.add({"sequential read of a cache line in " + place,
               marked(time_text(cost.stream_ns), cost.origin)});
  }
  return "\n" + table.text(columns);
}

std::string seconds_text(double seconds) { return fmt::format("{:.1f}", seconds); }

}  // namespace

std::string plan_text(const Topology& topology, const Plan& plan, int columns) {
  Table table({"step", "measurements", "seconds", "limit"}, {});
  for (const auto& step : plan.steps) {
    table.add({step.name, std::to_string(step.seconds.size()),
               seconds_text(step.expected_seconds()), seconds_text(step.limit_seconds)});
  }
  table.add(
      {"total", "", seconds_text(plan.expected_seconds()), seconds_text(plan.limit_seconds())});
  return wrap("",
              fmt::format("{}: {} hardware threads are measured", heading(topology),
                          plan.pus.size()),
              0, columns) +
         "\n" + table.text(columns);
}

std::string other_work_text(const std::vector<calibrate::OtherWork>& work, std::size_t measured) {
  const auto most =
      std::max_element(work.begin(), work.end(),
                       [](const auto& one, const auto& other) { return one.share < other.share; });
  return fmt::format(
      "other programs run on {} of the {} to be measured (on hardware thread {} for {:.0f} % of "
      "the time), so measurements will be unsteady; stop these programs first",
      work.size(), counted(static_cast<long long>(measured), "hardware thread"), most->pu,
      100 * most->share);
}

std::string summary_text(const Outcome& outcome, int columns) {
  const Machine& machine = outcome.machine;
  const std::string opening =
      wrap("",
           fmt::format("{}: {} measurements in {:.1f} s", heading(machine.topology),
                       outcome.measurements, outcome.seconds),
           0, columns);
  std::string tables = line_table(machine, columns) + copy_table(machine, columns) +
                       memory_copy_text(machine, columns) + handoff_table(machine, columns) +
                       path_table(machine, columns) + system_table(machine, columns);
  if (tables.find('~') != std::string::npos) {
    tables += "\n" +
              wrap("", "~ estimated, not measured (measuring further readers requires three cores)",
                   2, columns);
  }
  return opening + tables;
}

}  // namespace huddle::cli
