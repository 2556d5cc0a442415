// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/inferred_topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "model/machine/infer.h"

namespace huddle::calibrate {
namespace {

using machine::Cluster;
using machine::CpuFamily;
using machine::CpuSet;
using machine::Level;
using machine::Topology;

machine::LinePairs pairs_of(const LatencyMatrix& matrix, const std::vector<int>& pus) {
  machine::LinePairs pairs;
  pairs.pus = pus;
  for (const int a : pus) {
    for (const int b : pus) {
      pairs.one_way_ns.push_back(
          matrix.at(static_cast<std::size_t>(a), static_cast<std::size_t>(b)));
    }
  }
  return pairs;
}

// Adds the innermost clusters whose hardware threads are as close as siblings of one core.
void collect_cores(const Cluster& cluster, double siblings_below_ns, std::vector<CpuSet>& cores) {
  for (const Cluster& child : cluster.children) collect_cores(child, siblings_below_ns, cores);
  if (cluster.children.empty() && cluster.cpus.count() > 1 &&
      cluster.one_way_ns < siblings_below_ns) {
    cores.push_back(cluster.cpus);
  }
}

// Returns the hardware threads of each core, in the order of their first one.
std::vector<CpuSet> cores_in(const LatencyMatrix& matrix, double siblings_below_ns) {
  std::vector<int> pus(matrix.size());
  std::iota(pus.begin(), pus.end(), 0);
  std::vector<CpuSet> cores;
  collect_cores(machine::infer_levels(pairs_of(matrix, pus)), siblings_below_ns, cores);
  CpuSet siblings;
  for (const CpuSet& core : cores) siblings = united(siblings, core);
  for (const int pu : pus) {
    if (!siblings.contains(pu)) cores.emplace_back(std::vector<int>{pu});
  }
  std::sort(cores.begin(), cores.end(),
            [](const CpuSet& a, const CpuSet& b) { return a.first() < b.first(); });
  return cores;
}

CpuSet with_siblings(const CpuSet& first_pus, const std::vector<CpuSet>& cores) {
  std::vector<int> pus;
  for (const CpuSet& core : cores) {
    if (first_pus.contains(core.first())) pus.insert(pus.end(), core.begin(), core.end());
  }
  return CpuSet(std::move(pus));
}

// Adds the clusters below `cluster` to the level of their depth, and those without parts to the
// innermost level as well.
void collect_groups(const Cluster& cluster, std::size_t level,
                    std::vector<std::vector<CpuSet>>& levels) {
  for (const Cluster& child : cluster.children) {
    levels[level].push_back(child.cpus);
    if (!child.children.empty()) {
      collect_groups(child, level - 1, levels);
    } else if (level > 0) {
      levels[0].push_back(child.cpus);
    }
  }
}

// Returns the groups of cores by latency, innermost level first, without the whole machine. The
// outermost level has the clusters that are nearest to no other, the innermost those without parts.
std::vector<std::vector<CpuSet>> groups_in(const LatencyMatrix& matrix,
                                           const std::vector<CpuSet>& cores) {
  std::vector<int> first_pus;
  for (const CpuSet& core : cores) first_pus.push_back(core.first());
  if (first_pus.size() < 2) return {};
  const Cluster machine = machine::infer_levels(pairs_of(matrix, first_pus));
  std::vector<std::vector<CpuSet>> levels(static_cast<std::size_t>(depth(machine)) - 1);
  if (!levels.empty()) collect_groups(machine, levels.size() - 1, levels);
  for (std::vector<CpuSet>& groups : levels) {
    for (CpuSet& group : groups) group = with_siblings(group, cores);
    std::sort(groups.begin(), groups.end(),
              [](const CpuSet& x, const CpuSet& y) { return x.first() < y.first(); });
  }
  return levels;
}

// Returns the groups that have parts in the innermost level.
std::vector<CpuSet> divided(const std::vector<CpuSet>& groups, const std::vector<CpuSet>& inner) {
  std::vector<CpuSet> result;
  std::copy_if(groups.begin(), groups.end(), std::back_inserter(result), [&](const CpuSet& group) {
    return std::find(inner.begin(), inner.end(), group) == inner.end();
  });
  return result;
}

int cores_of(const CpuSet& group, const std::vector<CpuSet>& cores) {
  return static_cast<int>(std::count_if(cores.begin(), cores.end(),
                                        [&](const CpuSet& core) { return group.contains(core); }));
}

class Recognition {
 public:
  Recognition(const LatencyMatrix& matrix, const TopologyFacts& facts)
      : facts_(facts),
        family_(machine::cpu_family(facts.cpu_model)),
        cores_(cores_in(matrix, facts.siblings_below_ns)),
        levels_(groups_in(matrix, cores_)) {
    std::vector<int> pus(matrix.size());
    std::iota(pus.begin(), pus.end(), 0);
    everything_ = CpuSet(std::move(pus));
    complete_outermost_level();
    sockets_ = sockets_level();
  }

  InferredTopology run() {
    Topology topology;
    topology.cpu_model = facts_.cpu_model;
    topology.pus = everything_;
    add(topology, "core", cores_);
    add_cache(topology, "l1", cores_, family_.l1_bytes);
    add_cache(topology, "l2", cores_, family_.l2_bytes);
    add_outer_levels(topology);
    add_memory(topology);
    validate(topology);
    return {std::move(topology), std::move(assumed_sockets_), std::move(notes_)};
  }

 private:
  void complete_outermost_level();
  std::size_t sockets_level();
  std::size_t assumed_sockets_level();
  bool cover_everything(const std::vector<CpuSet>& groups) const;
  void add_outer_levels(Topology& topology) const;
  void add_memory(Topology& topology) const;

  static void add(Topology& topology, const std::string& name, const std::vector<CpuSet>& groups) {
    topology.levels.push_back({name, groups, {}});
  }
  void add_cache(Topology& topology, const std::string& name, const std::vector<CpuSet>& groups,
                 std::uint64_t bytes) const {
    if (bytes == 0) return;
    topology.levels.push_back({name, groups, std::vector<std::uint64_t>(groups.size(), bytes)});
  }
  void add_l3(Topology& topology, const std::vector<CpuSet>& groups) const;
  std::vector<CpuSet> sockets() const {
    return sockets_ < levels_.size() ? levels_[sockets_] : std::vector<CpuSet>{everything_};
  }

  const TopologyFacts& facts_;
  CpuFamily family_;
  std::vector<std::string> notes_;
  std::vector<CpuSet> cores_;
  std::vector<std::vector<CpuSet>> levels_;
  std::vector<CpuSet> assumed_sockets_;
  std::size_t sockets_ = 0;  // position in levels_; its size if there is one socket
  CpuSet everything_;
};

// Lines whose memory belongs to one socket pass through it on their way between two parts of
// another socket, whose parts then seem as far apart as sockets. If a part of the machine is a
// group and the rest consists of smaller ones, the smaller ones are united to groups of the same
// size.
void Recognition::complete_outermost_level() {
  if (levels_.size() < 2) return;
  int most = 0;
  for (const CpuSet& group : levels_.back()) most = std::max(most, cores_of(group, cores_));
  std::vector<CpuSet> complete;
  std::vector<CpuSet> assumed;
  CpuSet open;
  for (const CpuSet& group : levels_.back()) {
    const bool is_whole = cores_of(group, cores_) == most;
    if (!is_whole) open = united(open, group);
    if (!is_whole && cores_of(open, cores_) == most) {
      assumed.push_back(std::exchange(open, CpuSet()));
      complete.push_back(assumed.back());
    }
    if (is_whole) complete.push_back(group);
  }
  if (assumed.empty() || !cover_everything(complete)) return;
  notes_.push_back(fmt::format(
      "the latencies show only {} of {} groups of {} cores; the others are assumed, and latencies "
      "inside them are left out",
      complete.size() - assumed.size(), complete.size(), most));
  levels_.back() = std::move(complete);
  assumed_sockets_ = std::move(assumed);
}

// Returns the position of the level whose groups are the sockets.
std::size_t Recognition::sockets_level() {
  if (facts_.sockets == 0) return assumed_sockets_level();
  if (facts_.sockets == 1) return levels_.size();
  std::vector<std::size_t> counts;
  for (std::size_t level = levels_.size(); level > 0; --level) {
    counts.push_back(levels_[level - 1].size());
    if (static_cast<int>(counts.back()) == facts_.sockets) return level - 1;
  }
  throw InputError(fmt::format(
      "the latencies show no {} sockets: {}", facts_.sockets,
      counts.empty() ? "no groups of cores are closer to each other than to the rest"
                     : fmt::format("their levels have {} groups", fmt::join(counts, " and "))));
}

// Several levels are parts of sockets and sockets. A single level may be either: it consists of
// sockets if a group has more cores than share an L3 in this family, or else if there are two.
std::size_t Recognition::assumed_sockets_level() {
  if (levels_.size() != 1) return levels_.empty() ? 0 : levels_.size() - 1;
  const std::vector<CpuSet>& groups = levels_.front();
  const int cores = cores_of(groups.front(), cores_);
  const bool is_part = family_.name.empty()
                           ? groups.size() != 2
                           : family_.cores_per_l3 > 0 && cores <= family_.cores_per_l3;
  notes_.push_back(fmt::format(
      "the {} groups of cores are assumed to be {}; if they are not, give the number of sockets "
      "with --sockets",
      groups.size(), is_part ? "parts of one socket" : "sockets"));
  return is_part ? 1 : 0;
}

void Recognition::add_l3(Topology& topology, const std::vector<CpuSet>& groups) const {
  Level level{"l3", groups, {}};
  for (const CpuSet& group : groups) {
    level.bytes.push_back(family_.l3_bytes_per_core *
                          static_cast<std::uint64_t>(cores_of(group, cores_)));
  }
  if (family_.l3_bytes_per_core == 0) level.bytes.clear();
  topology.levels.push_back(std::move(level));
}

bool Recognition::cover_everything(const std::vector<CpuSet>& groups) const {
  int pus = 0;
  for (const CpuSet& group : groups) pus += group.count();
  return pus == everything_.count();
}

// The innermost groups inside a socket share an L3. The outermost are NUMA nodes, unless they leave
// out cores, each of which has a node: then some parts of a socket are only nearer than others. If
// all cores of a socket share one in this family, they are NUMA nodes (sub-NUMA clustering), each
// with its part of the L3.
void Recognition::add_outer_levels(Topology& topology) const {
  add_l3(topology, sockets_ > 0 ? levels_.front() : sockets());
  const bool parts_are_nodes = family_.shares_l3_in_socket() && sockets_ == 1;
  const std::size_t first = parts_are_nodes ? 0 : 1;
  for (std::size_t level = first; level < sockets_; ++level) {
    const std::vector<CpuSet> groups =
        level == 0 ? levels_[level] : divided(levels_[level], levels_.front());
    const bool is_node = level + 1 == sockets_ && cover_everything(groups);
    add(topology, is_node ? "numa" : fmt::format("group{}", level), groups);
  }
  const bool has_nodes = machine::find_level(topology, "numa") != nullptr;
  if (!has_nodes && sockets().size() > 1) add(topology, "numa", sockets());
  add(topology, "package", sockets());
  for (std::size_t level = sockets_ + 1; level < levels_.size(); ++level) {
    add(topology, fmt::format("group{}", level), levels_[level]);
  }
}

void Recognition::add_memory(Topology& topology) const {
  const Level* nodes = machine::find_level(topology, "numa");
  const std::vector<CpuSet> cpus = nodes != nullptr ? nodes->groups : sockets();
  for (std::size_t node = 0; node < cpus.size(); ++node) {
    topology.numa.push_back({.number = static_cast<int>(node), .cpus = cpus[node], .kind = {}});
  }
}

}  // namespace

InferredTopology infer_topology(const LatencyMatrix& matrix, const TopologyFacts& facts) {
  return Recognition(matrix, facts).run();
}

}  // namespace huddle::calibrate
