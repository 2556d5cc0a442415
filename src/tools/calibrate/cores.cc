// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/cores.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace huddle::calibrate {
namespace {

using machine::CpuSet;
using machine::GroupIndex;
using machine::Topology;

// Sorts by package, then by what is inside of it, and by number last.
void order_by_tree(const GroupIndex& index, std::vector<int>& pus) {
  const auto place = [&index](int pu) {
    std::vector<int> groups;
    for (std::size_t level = index.levels(); level-- > 0;) groups.push_back(index.group(level, pu));
    groups.push_back(pu);
    return groups;
  };
  std::sort(pus.begin(), pus.end(), [&place](int a, int b) { return place(a) < place(b); });
}

std::string level_name(const Topology& topology, std::size_t level) {
  return level == topology.levels.size() ? std::string(machine::whole_machine)
                                         : topology.levels[level].name;
}

// Of `all` cut into so many parts.
std::size_t middle_of_part(std::size_t part, std::size_t parts, std::size_t all) {
  return (2 * part + 1) * all / (2 * parts);
}

// Evenly spaced ones, so that no corner of the machine stands for all of it.
std::vector<Pair> thinned(const std::vector<Pair>& pairs, std::size_t most) {
  if (pairs.size() <= most) return pairs;
  std::vector<Pair> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(pairs[middle_of_part(i, most, pairs.size())]);
  }
  return kept;
}

}  // namespace

std::vector<int> measured_pus(const Topology& topology, const CpuSet& allowed) {
  const CpuSet usable = common(topology.pus, allowed);
  std::set<int> chosen(usable.begin(), usable.end());
  if (const machine::Level* cores = find_level(topology, "core")) {
    for (const CpuSet& core : cores->groups) {
      const CpuSet threads = common(core, usable);
      for (const int pu : threads) {
        if (pu != threads.first()) chosen.erase(pu);
      }
    }
  }
  std::vector<int> pus(chosen.begin(), chosen.end());
  order_by_tree(GroupIndex(topology), pus);
  return pus;
}

std::vector<Pair> all_pairs(const std::vector<int>& pus) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < pus.size(); ++i) {
    for (std::size_t j = i + 1; j < pus.size(); ++j) pairs.emplace_back(pus[i], pus[j]);
  }
  return pairs;
}

std::vector<LevelPairs> pairs_by_level(const Topology& topology, const CpuSet& allowed,
                                       std::size_t most) {
  const GroupIndex index(topology);
  std::vector<std::vector<Pair>> of_level(topology.levels.size() + 1);
  const CpuSet usable = common(topology.pus, allowed);
  std::vector<int> pus(usable.begin(), usable.end());
  order_by_tree(index, pus);
  for (const Pair& pair : all_pairs(pus)) {
    of_level[index.joining_level(pair.first, pair.second)].push_back(pair);
  }
  std::vector<LevelPairs> result;
  for (std::size_t level = 0; level < of_level.size(); ++level) {
    if (of_level[level].empty()) continue;
    result.push_back({level_name(topology, level), thinned(of_level[level], most)});
  }
  return result;
}

std::vector<int> fullest_group(const Topology& topology, const std::string& level,
                               const std::vector<int>& pus) {
  const machine::Level* found = find_level(topology, level);
  if (found == nullptr) return pus;
  std::vector<int> fullest;
  for (const CpuSet& group : found->groups) {
    std::vector<int> inside;
    std::copy_if(pus.begin(), pus.end(), std::back_inserter(inside),
                 [&group](int pu) { return group.contains(pu); });
    if (inside.size() > fullest.size()) fullest = inside;
  }
  return fullest;
}

std::vector<int> spread_over(const std::vector<int>& pus, std::size_t count) {
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(pus[middle_of_part(i, count, pus.size())]);
  }
  return chosen;
}

int reference_pu(const std::vector<int>& pus) { return spread_over(pus, 1).front(); }

std::vector<int> writer_and_readers(const Topology& topology, const std::string& level,
                                    const std::vector<int>& pus, std::size_t most) {
  const auto readers_of = [&](int writer) {
    std::vector<int> readers;
    std::copy_if(pus.begin(), pus.end(), std::back_inserter(readers), [&](int pu) {
      return pu != writer && joining_level_name(topology, writer, pu) == level;
    });
    return readers;
  };
  int writer = reference_pu(pus);
  std::vector<int> readers = readers_of(writer);
  for (const int pu : pus) {
    std::vector<int> others = readers_of(pu);
    if (others.size() <= readers.size()) continue;
    writer = pu;
    readers = std::move(others);
  }
  std::vector<int> chosen = spread_over(readers, std::min(readers.size(), most));
  chosen.insert(chosen.begin(), writer);
  return chosen;
}

std::vector<std::size_t> doubling_to(std::size_t all) {
  std::vector<std::size_t> counts;
  for (std::size_t count = 2; count < all; count *= 2) counts.push_back(count);
  if (all >= 2) counts.push_back(all);
  return counts;
}

}  // namespace huddle::calibrate
