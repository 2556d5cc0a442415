// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/machine/machine.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "common/text.h"
#include "model/machine/cpu_family.h"

namespace huddle::machine {
namespace {

// A segment between two points of a curve, with each time raised to at least those of smaller
// sizes.
struct Segment {
  double from_bytes = 0;
  double from_ns = 0;
  double to_ns = 0;
  double ns_per_byte = 0;
};
// Returns the segment that begins at point i and ends at the next one. Allocates nothing and makes
// one pass, because one choice of an algorithm evaluates curves thousands of times.
Segment segment(const Curve& curve, std::size_t i) {
  double from_ns = curve.ns.front();
  for (std::size_t point = 1; point <= i; ++point) from_ns = std::max(from_ns, curve.ns[point]);
  const double to_ns = std::max(from_ns, curve.ns[i + 1]);
  return {curve.bytes[i], from_ns, to_ns,
          (to_ns - from_ns) / (curve.bytes[i + 1] - curve.bytes[i])};
}

// Returns a time before the first point: extrapolates the first segment to its fixed cost at 0
// bytes.
double before_first(const Curve& curve, double bytes) {
  const double first_ns = curve.ns.front();
  const double at_zero =
      curve.ns.size() < 2
          ? 0
          : std::max(0.0, first_ns - segment(curve, 0).ns_per_byte * curve.bytes[0]);
  return at_zero + (first_ns - at_zero) * bytes / curve.bytes[0];
}

// Returns a time after the last point: continues at the rate of the last segment, or at the overall
// rate if that is slower. Otherwise noise in the last two points could make large sizes free.
double after_last(const Curve& curve, double bytes) {
  const std::size_t last = curve.ns.size() - 1;
  double last_ns = curve.ns.front();
  double last_slope = 0;
  if (last > 0) {
    const Segment before = segment(curve, last - 1);
    last_ns = before.to_ns;
    last_slope = before.ns_per_byte;
  }
  const double per_byte = std::max(last_ns / curve.bytes[last], last_slope);
  return last_ns + per_byte * (bytes - curve.bytes[last]);
}

}  // namespace

double time_at(const Curve& curve, double bytes) {
  if (bytes <= curve.bytes.front()) return before_first(curve, bytes);
  if (bytes >= curve.bytes.back()) return after_last(curve, bytes);
  const auto above = std::upper_bound(curve.bytes.begin(), curve.bytes.end(), bytes);
  const Segment around = segment(curve, static_cast<std::size_t>(above - curve.bytes.begin()) - 1);
  return around.from_ns + around.ns_per_byte * (bytes - around.from_bytes);
}

std::vector<double> rates(const Curve& curve) {
  std::vector<double> result;
  for (std::size_t i = 0; i < curve.ns.size(); ++i) result.push_back(curve.bytes[i] / curve.ns[i]);
  return result;
}

namespace {

// Times longer than an hour and rates above a petabyte per second are considered typing errors.
constexpr double shortest_ns = 1e-6;
constexpr double longest_ns = 3.6e12;
constexpr double most_bytes = 1e15;
constexpr double fastest_gb_per_s = 1e6;
constexpr double widest_spread = 1e6;

// The entry being validated. All errors contain its place.
class Entry {
 public:
  Entry(const Topology& topology, std::string section, std::size_t index, std::string what)
      : topology_(topology), section_(std::move(section)), index_(index), what_(std::move(what)) {}

  const std::string& what() const { return what_; }

  [[noreturn]] void refuse(const std::string& message) const {
    throw Flaw(section_, index_, message);
  }
  void range(double value, double least, double most, const std::string& part) const {
    if (std::isfinite(value) && value >= least && value <= most) return;
    refuse(fmt::format("{}: {} is {}, which is impossible", what_, part, value));
  }
  void time(double ns, const std::string& part) const { range(ns, shortest_ns, longest_ns, part); }
  // A surcharge may be 0.
  void surcharge(double ns, const std::string& part) const { range(ns, 0, longest_ns, part); }
  void spread(double value) const { range(value, 0, widest_spread, "spread"); }
  void copiers(int count) const { range(count, 1, topology_.pus.count(), "copiers"); }
  void level(const std::string& name) const {
    if (name == whole_machine || find_level(topology_, name) != nullptr) return;
    refuse(fmt::format("{}: the topology has no level '{}'", what_, name));
  }
  // Rejects duplicates, because a lookup would be ambiguous.
  void once(std::set<std::string>& seen) const {
    if (!seen.insert(what_).second) refuse(what_ + " is defined twice");
  }
  void curve(const Curve& curve) const;

 private:
  void same_count(std::size_t sizes, std::size_t others, std::string_view of_what) const {
    if (sizes == others) return;
    refuse(fmt::format("{} has {} sizes but {} {}", what_, sizes, others, of_what));
  }

  const Topology& topology_;
  std::string section_;
  std::size_t index_;
  std::string what_;
};

void Entry::curve(const Curve& curve) const {
  if (curve.bytes.empty()) refuse(what_ + " has no points");
  same_count(curve.bytes.size(), curve.ns.size(), "times");
  if (!curve.spread.empty()) same_count(curve.bytes.size(), curve.spread.size(), "spreads");
  for (std::size_t i = 0; i < curve.bytes.size(); ++i) {
    range(curve.bytes[i], 1, most_bytes, fmt::format("size {}", i + 1));
    time(curve.ns[i], fmt::format("time {}", i + 1));
    if (i > 0 && curve.bytes[i] <= curve.bytes[i - 1]) {
      refuse(fmt::format("{}: the sizes do not increase at number {}", what_, i + 1));
    }
  }
  for (const double value : curve.spread) spread(value);
}

void check_line(const Machine& machine) {
  const Entry whole(machine.topology, "", 0, "machine");
  whole.range(machine.line_bytes, 8, 4096, "line_bytes");
  std::set<std::string> seen;
  std::set<std::string> levels;
  for (std::size_t i = 0; i < machine.line.size(); ++i) {
    const LineCost& cost = machine.line[i];
    const Entry entry(machine.topology, "line", i, "line latency of level " + cost.level);
    entry.once(seen);
    entry.level(cost.level);
    entry.time(cost.one_way_ns, "one_way_ns");
    entry.time(cost.shared_ns, "shared_ns");
    entry.surcharge(cost.reader_step_ns, "reader_step_ns");
    entry.surcharge(cost.writer_step_ns, "writer_step_ns");
    entry.surcharge(cost.load_step_ns.value_or(0), "load_step_ns");
    entry.spread(cost.spread);
    levels.insert(cost.level);
  }
  for (const std::string& level : joining_levels(machine.topology)) {
    if (levels.contains(level)) continue;
    throw Flaw("line", 0,
               fmt::format("level {0} has no line latency; add [[line]] level = \"{0}\"", level));
  }
}

void check_pairs(const Machine& machine) {
  if (!machine.pairs) return;
  const LinePairs& pairs = *machine.pairs;
  const Entry entry(machine.topology, "pairs", 0, "pairs");
  const std::size_t n = pairs.pus.size();
  if (n < 2) entry.refuse("pairs require at least two hardware threads");
  if (pairs.one_way_ns.size() != n * n) {
    entry.refuse(fmt::format("pairs of {} hardware threads require {} latencies, but there are {}",
                             n, n * n, pairs.one_way_ns.size()));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!machine.topology.pus.contains(pairs.pus[i])) {
      entry.refuse(fmt::format("pairs contain hardware thread {}, which the machine does not have",
                               pairs.pus[i]));
    }
    if (i > 0 && pairs.pus[i] <= pairs.pus[i - 1]) {
      entry.refuse("the hardware threads of pairs are not in increasing order");
    }
    for (std::size_t j = 0; j < i; ++j) {
      const double ns = pairs.one_way_ns[i * n + j];
      entry.time(ns, fmt::format("{}-{}", pairs.pus[j], pairs.pus[i]));
      if (ns != pairs.one_way_ns[j * n + i]) entry.refuse("the matrix of pairs is not symmetric");
    }
  }
}

void check_outstanding_misses(const Machine& machine) {
  if (!machine.outstanding_misses) return;
  constexpr double most_misses = 1024;  // far more than any core has
  const Entry entry(machine.topology, "outstanding_misses", 0, "outstanding_misses");
  entry.range(machine.outstanding_misses->per_core, 1, most_misses, "per_core");
}

void check_copies(const Machine& machine, const std::vector<CopyCurve>& copies,
                  const std::string& table) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const CopyCurve& copy = copies[i];
    const Entry entry(
        machine.topology, table, i,
        fmt::format("{} curve of level {}, copiers {}", table, copy.level, copy.copiers));
    entry.once(seen);
    entry.level(copy.level);
    entry.copiers(copy.copiers);
    entry.curve(copy.curve);
  }
}

void check_copies(const Machine& machine) {
  check_copies(machine, machine.copy, "copy");
  check_copies(machine, machine.copy_past_caches, "copy_past_caches");
  const bool one_alone = std::any_of(machine.copy.begin(), machine.copy.end(),
                                     [](const CopyCurve& copy) { return copy.copiers == 1; });
  if (!one_alone) {
    throw Flaw("copy", 0, "the curve of a copy by one core is missing; add [[copy]] copiers = 1");
  }
}

void check_handoffs(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.handoff.size(); ++i) {
    const HandoffCurve& handoff = machine.handoff[i];
    const std::string_view kind = handoff_names[static_cast<std::size_t>(handoff.kind)];
    const Entry entry(machine.topology, "handoff", i,
                      fmt::format("hand-off {} of level {}", kind, handoff.level));
    entry.once(seen);
    entry.level(handoff.level);
    entry.curve(handoff.curve);
  }
}

void check_paths(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.paths.size(); ++i) {
    const PathCurve& path = machine.paths[i];
    const Entry entry(machine.topology, "path", i,
                      fmt::format("path {}, copiers {}{}", path.path, path.copiers,
                                  path.level.empty() ? "" : ", level " + path.level));
    if (path.path.empty()) entry.refuse("a path needs a name");
    entry.once(seen);
    if (!path.level.empty()) entry.level(path.level);
    entry.copiers(path.copiers);
    entry.curve(path.curve);
  }
}

void check_memory(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.memory.size(); ++i) {
    const MemoryCost& cost = machine.memory[i];
    const Entry entry(machine.topology, "memory", i, "memory of level " + cost.level);
    entry.once(seen);
    entry.level(cost.level);
    entry.time(cost.load_ns, "load_ns");
    entry.range(cost.copy_factor, 1, 1000, "copy_factor");
  }
}

void check_system(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.system.size(); ++i) {
    const SystemCost& cost = machine.system[i];
    const std::string_view name = system_call_names[static_cast<std::size_t>(cost.call)];
    const Entry entry(machine.topology, "system", i, fmt::format("system cost {}", name));
    entry.once(seen);
    entry.time(cost.ns, "ns");
    entry.spread(cost.spread);
  }
}

void check_arrays(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.arrays.size(); ++i) {
    const ArrayCost& cost = machine.arrays[i];
    const std::string_view name = array_place_names[static_cast<std::size_t>(cost.place)];
    const Entry entry(machine.topology, "array", i, fmt::format("array of place {}", name));
    entry.once(seen);
    entry.time(cost.load_ns, "load_ns");
    entry.time(cost.stream_ns, "stream_ns");
    entry.spread(cost.spread);
  }
}

void check_networks(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.networks.size(); ++i) {
    const Network& network = machine.networks[i];
    const Entry entry(machine.topology, "network", i, "network " + network.name);
    entry.once(seen);
    entry.range(network.rails, 1, 64, "rails");
    entry.surcharge(network.gap_ns, "gap_ns");
    entry.range(network.node_gb_per_s, 1e-9, fastest_gb_per_s, "node_gb_per_s");
    entry.curve(network.curve);
    entry.surcharge(network.cpu_ns, "cpu_ns");
    if (2 * network.cpu_ns > time_at(network.curve, 0)) {
      entry.refuse(
          fmt::format("{}: the CPU time of a message (2 x cpu_ns = {} ns) exceeds its time from "
                      "end to end ({} ns)",
                      entry.what(), 2 * network.cpu_ns, time_at(network.curve, 0)));
    }
    if (network.rendezvous_bytes) {
      entry.range(*network.rendezvous_bytes, 0, most_bytes, "rendezvous_bytes");
    }
    if (network.both_ways) entry.range(*network.both_ways, 1, 2, "both_ways");
    if (network.piece_bytes) entry.range(*network.piece_bytes, 1, most_bytes, "piece_bytes");
  }
}

void check_mpi_collectives(const Machine& machine) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.mpi_collectives.size(); ++i) {
    const MpiCollective& collective = machine.mpi_collectives[i];
    const Entry entry(machine.topology, "mpi_collective", i,
                      fmt::format("{} of {} on {} hosts, {} ranks{}", collective.operation,
                                  collective.mpi, collective.hosts, collective.ranks,
                                  collective.in_order ? "" : ", not in order"));
    if (collective.mpi.empty()) entry.refuse("an MPI needs a name");
    if (collective.ranks < collective.hosts) {
      entry.refuse(fmt::format("{}: each host must have a rank", entry.what()));
    }
    entry.once(seen);
    entry.curve(collective.curve);
  }
}

}  // namespace

void validate(const Machine& machine) {
  validate(machine.topology);
  check_line(machine);
  check_pairs(machine);
  check_outstanding_misses(machine);
  check_copies(machine);
  check_handoffs(machine);
  check_paths(machine);
  check_memory(machine);
  check_system(machine);
  check_arrays(machine);
  check_networks(machine);
  check_mpi_collectives(machine);
}

OutstandingMisses outstanding_misses(const Machine& machine) {
  if (machine.outstanding_misses) return *machine.outstanding_misses;
  return {cpu_family(machine.topology.cpu_model).outstanding_misses, Origin::estimated};
}

bool calibrated(const Machine& machine) {
  const auto measured = [](const auto& entry) { return entry.origin == Origin::measured; };
  return std::any_of(machine.line.begin(), machine.line.end(), measured) ||
         std::any_of(machine.copy.begin(), machine.copy.end(), measured) ||
         std::any_of(machine.system.begin(), machine.system.end(), measured);
}

Calibration calibration_of(const Machine& machine) {
  if (!calibrated(machine)) return Calibration::none;
  const bool is_quick = machine.provenance.method.starts_with(
      calibration_names[static_cast<std::size_t>(Calibration::quick)]);
  return is_quick ? Calibration::quick : Calibration::full;
}

std::string unsteadiness_text(const Machine& machine) {
  if (machine.doubts.empty()) return {};
  const auto number = static_cast<long long>(machine.doubts.size());
  return fmt::format("{} unsteady ({}{})", counted(number, "step"), machine.doubts.front().what,
                     number > 1 ? ", ..." : "");
}

}  // namespace huddle::machine
