// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whether a topology is a tree, and where it is not.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/machine/topology.h"

namespace huddle::machine {
namespace {

void check_level(const Topology& topology, std::size_t number) {
  const Level& level = topology.levels[number];
  const auto refuse = [number](const std::string& message) {
    throw Flaw("topology.level", number, message);
  };
  if (level.name.empty() || level.name == whole_machine) {
    refuse(fmt::format("a level cannot be called '{}'", level.name));
  }
  if (level.groups.empty()) refuse(fmt::format("level {} has no groups", level.name));
  if (!level.bytes.empty() && level.bytes.size() != level.groups.size()) {
    refuse(fmt::format("level {} has {} groups but {} sizes", level.name, level.groups.size(),
                       level.bytes.size()));
  }
  std::set<int> seen;
  for (const CpuSet& group : level.groups) {
    if (group.empty()) refuse(fmt::format("level {} has an empty group", level.name));
    for (int pu : group) {
      if (!topology.pus.contains(pu)) {
        refuse(fmt::format("level {} names processor {}, which the machine does not have",
                           level.name, pu));
      }
      if (!seen.insert(pu).second) {
        refuse(fmt::format("level {} has processor {} in two groups", level.name, pu));
      }
    }
  }
}

// Every inner group lies wholly inside one group of each outer level, or wholly outside them all.
void check_nesting(const Topology& topology, const GroupIndex& index, std::size_t inner,
                   std::size_t outer) {
  for (const CpuSet& group : topology.levels[inner].groups) {
    const int around = index.group(outer, group.first());
    const bool crosses = std::any_of(group.begin(), group.end(),
                                     [&](int pu) { return index.group(outer, pu) != around; });
    if (crosses) {
      throw Flaw(
          "topology.level", inner,
          fmt::format("level {} group {} crosses the groups of level {}",
                      topology.levels[inner].name, group.text(), topology.levels[outer].name));
    }
  }
}

void check_levels(const Topology& topology) {
  if (topology.levels.size() > most_levels) {
    throw Flaw("topology.level", most_levels, fmt::format("more than {} levels", most_levels));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    if (!names.insert(topology.levels[i].name).second) {
      throw Flaw("topology.level", i,
                 fmt::format("level {} is there twice", topology.levels[i].name));
    }
    check_level(topology, i);
  }
  const GroupIndex index(topology);
  for (std::size_t outer = 1; outer < topology.levels.size(); ++outer) {
    for (std::size_t inner = 0; inner < outer; ++inner)
      check_nesting(topology, index, inner, outer);
  }
}

void check_numa(const Topology& topology) {
  std::set<int> numbers;
  for (std::size_t i = 0; i < topology.numa.size(); ++i) {
    const NumaNode& node = topology.numa[i];
    if (!numbers.insert(node.number).second) {
      throw Flaw("topology.numa", i, fmt::format("NUMA node {} is there twice", node.number));
    }
    if (!topology.pus.contains(node.cpus)) {
      throw Flaw(
          "topology.numa", i,
          fmt::format("NUMA node {} names processors that the machine does not have", node.number));
    }
  }
  const std::size_t wanted = topology.numa.size() * topology.numa.size();
  if (!topology.numa_distances.empty() && topology.numa_distances.size() != wanted) {
    throw Flaw("topology", 0,
               fmt::format("{} NUMA nodes need {} distances, there are {}", topology.numa.size(),
                           wanted, topology.numa_distances.size()));
  }
}

void check_processors(const Topology& topology) {
  const auto refuse = [](const std::string& message) { throw Flaw("topology", 0, message); };
  if (topology.pus.empty()) refuse("a machine needs at least one processor");
  if (topology.pus.count() > most_processors) {
    refuse(fmt::format("{} processors are more than the {} that huddle takes", topology.pus.count(),
                       most_processors));
  }
  if (topology.pus.intersects(topology.offline)) {
    refuse(fmt::format("processors {} are both online and offline",
                       common(topology.pus, topology.offline).text()));
  }
  for (const CoreKind& kind : topology.kinds) {
    if (topology.pus.contains(kind.cpus)) continue;
    refuse(fmt::format("core kind {} names processors that the machine does not have", kind.name));
  }
}

}  // namespace

void validate(const Topology& topology) {
  check_processors(topology);
  check_levels(topology);
  check_numa(topology);
}

}  // namespace huddle::machine
