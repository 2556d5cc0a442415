// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The generic constants for machines without measurements: round figures of server processors of
// the last ten years, all marked `estimated`. docs/model.md lists them with their reasons.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "model/machine/locate.h"

namespace huddle::machine {
namespace {

// Returns the one-way latency of a cache line between two cores with this joining level. Nested
// groups ("group2") count as "group", and so do unknown levels.
double generic_line_ns(const std::string& level) {
  static const std::map<std::string, double> ns = {
      {"core", 12}, {"l1", 12},   {"l2", 25},    {"l3", 50},       {"l4", 70},
      {"die", 80},  {"numa", 90}, {"group", 90}, {"package", 110}, {"machine", 160}};
  const std::string kind = level.substr(0, level.find_last_not_of("0123456789") + 1);
  for (const std::string& name : {level, kind}) {
    const auto found = ns.find(name);
    if (found != ns.end()) return found->second;
  }
  return ns.at("group");
}

// Ratios to the one-way latency: a line that both sides write, and each additional reader or
// writer.
constexpr double shared_share = 0.6;
constexpr double reader_step_share = 0.3;
constexpr double writer_step_share = 0.5;

LineCost line_of(const std::string& level, double one_way_ns) {
  return {level,
          one_way_ns,
          one_way_ns * shared_share,
          one_way_ns * reader_step_share,
          one_way_ns * writer_step_share,
          0,
          Origin::estimated};
}

std::vector<LineCost> generic_lines(const Topology& topology) {
  std::vector<LineCost> lines;
  double inner_ns = 0;  // an outer level is never faster than an inner one
  for (const std::string& level : joining_levels(topology)) {
    inner_ns = std::max(inner_ns, generic_line_ns(level));
    lines.push_back(line_of(level, inner_ns));
  }
  return lines;
}

// Cache sizes if they are unknown.
constexpr double l1_bytes = 32 << 10;
constexpr double l2_bytes = 1 << 20;
constexpr double l3_bytes = 32 << 20;
constexpr double largest_bytes = 256 << 20;

double cache_bytes(const Topology& topology, const char* name, double otherwise) {
  const Level* level = find_level(topology, name);
  if (level == nullptr || level->bytes.empty() || level->bytes.front() == 0) return otherwise;
  return static_cast<double>(level->bytes.front());
}

// Copy rates by the level of memory in which both buffers fit, in bytes per nanosecond.
constexpr double l1_rate = 40;
constexpr double l2_rate = 30;
constexpr double l3_rate = 20;
constexpr double memory_rate = 8;
constexpr double call_ns = 10;
// Number of copiers that a shared cache and a memory controller serve at full rate.
constexpr double l3_copiers = 4;
constexpr double memory_copiers = 3;

Curve copy_curve(const Topology& topology, double l3_slowdown, double memory_slowdown) {
  // Half of each cache, because source and target share it.
  const double l1 = cache_bytes(topology, "l1", l1_bytes) / 2;
  const double l2 = std::max(cache_bytes(topology, "l2", l2_bytes) / 2, 2 * l1);
  const double l3 = std::max(cache_bytes(topology, "l3", l3_bytes) / 2, 2 * l2);
  const double memory = std::max(largest_bytes, 4 * l3);
  Curve curve;
  const auto add = [&curve](double bytes, double rate, double slowdown) {
    curve.bytes.push_back(bytes);
    curve.ns.push_back(call_ns + bytes / rate * slowdown);
  };
  add(l1, l1_rate, 1);
  add(l2, l2_rate, 1);
  add(l3, l3_rate, l3_slowdown);
  add(memory, memory_rate, memory_slowdown);
  return curve;
}

std::vector<CopyCurve> generic_copies(const Topology& topology) {
  std::vector<CopyCurve> copies;
  const std::string level(whole_machine);
  const int cores = core_count(topology);
  const double nodes = std::max<double>(1, static_cast<double>(topology.numa.size()));
  copies.push_back({level, 1, copy_curve(topology, 1, 1), Origin::estimated});
  if (cores > 1) {
    const double l3_slowdown = std::max(1.0, cores / nodes / l3_copiers);
    const double memory_slowdown = std::max(1.0, cores / nodes / memory_copiers);
    copies.push_back(
        {level, cores, copy_curve(topology, l3_slowdown, memory_slowdown), Origin::estimated});
  }
  return copies;
}

constexpr double memory_far_ns = 160;

std::vector<MemoryCost> generic_memory(const Topology& topology,
                                       const std::vector<LineCost>& lines) {
  constexpr double far_factor = 1.6;
  const Level* nodes = find_level(topology, "numa");
  // The levels are listed innermost first, without the machine itself.
  const auto level_is_far = [&](const std::string& level) {
    if (nodes == nullptr) return false;
    return level == whole_machine || find_level(topology, level) > nodes;
  };
  std::vector<MemoryCost> memory;
  for (const LineCost& line : lines) {
    const bool far = level_is_far(line.level);
    memory.push_back({line.level, far ? memory_far_ns : memory_near_ns, far ? far_factor : 1.0,
                      Origin::estimated});
  }
  return memory;
}

std::vector<PathCurve> generic_paths(const Topology& topology) {
  // The time of one system call and of a copy page by page, for which readers compete for the page
  // table lock.
  constexpr double syscall_ns = 1500;
  constexpr double rate = 8;
  constexpr double copiers_at_full_rate = 4;
  std::vector<PathCurve> paths;
  const auto add = [&paths](int copiers) {
    const double slowdown = std::max(1.0, copiers / copiers_at_full_rate);
    Curve curve;
    for (const double bytes : {4096.0, 1048576.0, 16777216.0}) {
      curve.bytes.push_back(bytes);
      curve.ns.push_back(syscall_ns + bytes / rate * slowdown);
    }
    paths.push_back({"cma", copiers, curve, Origin::estimated});
  };
  add(1);
  if (core_count(topology) > 1) add(core_count(topology));
  return paths;
}

std::vector<SystemCost> generic_system() {
  return {{SystemCall::page_fault, 500, 0, Origin::estimated},
          {SystemCall::futex_wake, 5000, 0, Origin::estimated},
          {SystemCall::yield, 500, 0, Origin::estimated},
          {SystemCall::map_segment, 5000, 0, Origin::estimated},
          {SystemCall::map_page, 500, 0, Origin::estimated}};
}

}  // namespace

std::vector<HandoffCurve> generic_handoffs(const std::vector<LineCost>& lines) {
  std::vector<HandoffCurve> handoffs;
  for (const LineCost& line : lines) {
    for (std::size_t kind = 0; kind < handoff_facts.size(); ++kind) {
      const HandoffFacts& facts = handoff_facts[kind];
      // The rates in the table are for cores that share a cache; they are lower if lines take
      // longer.
      const double slowdown = std::max(1.0, line.one_way_ns / generic_line_ns("l3"));
      Curve curve;
      for (const double bytes : {4096.0, 65536.0, 1048576.0}) {
        curve.bytes.push_back(bytes);
        curve.ns.push_back(line.one_way_ns +
                           (facts.start_ns + bytes / facts.bytes_per_ns) * slowdown);
      }
      handoffs.push_back({line.level, static_cast<HandoffKind>(kind), curve, Origin::estimated});
    }
  }
  return handoffs;
}

LineCost generic_line(const std::string& level) { return line_of(level, generic_line_ns(level)); }

Machine generic_machine(const Topology& topology) {
  Machine machine;
  machine.name = fingerprint(topology);
  machine.topology = topology;
  machine.provenance.method = "uncalibrated: generic figures";
  machine.line = generic_lines(topology);
  machine.outstanding_misses = outstanding_misses(machine);
  machine.copy = generic_copies(topology);
  machine.handoff = generic_handoffs(machine.line);
  machine.memory = generic_memory(topology, machine.line);
  machine.paths = generic_paths(topology);
  machine.system = generic_system();
  validate(machine);
  return machine;
}

}  // namespace huddle::machine
