// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/cores_and_sizes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "common/system.h"

namespace huddle::calibrate {
namespace {

using machine::CpuSet;
using machine::GroupIndex;
using machine::Topology;

// Sorts by socket, then by the levels inside it, then by OS index.
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

// Divides `all` items into `parts` equal parts. Returns the index in the middle of part `part`.
std::size_t middle_of_part(std::size_t part, std::size_t parts, std::size_t all) {
  return (2 * part + 1) * all / (2 * parts);
}

// Keeps evenly spaced pairs, so that all parts of the machine are represented.
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

namespace {

// Caches of a typical server, used if the firmware does not report any.
constexpr std::size_t usual_l1 = 32 << 10;
constexpr std::size_t usual_l2 = 1 << 20;
constexpr std::size_t usual_l3 = 32 << 20;
// A copy touches twice its size. Copies of a cache's size divided by `fits` certainly fit into the
// cache, those divided by `fits_just` barely fit, and those of the cache's size do not.
constexpr std::size_t fits = 4;
constexpr std::size_t fits_just = 2;
constexpr std::size_t far_beyond = 4;
// Minimum ratio of neighbouring sizes.
constexpr double nearest_ratio = 1.6;
// Maximum ratio of neighbouring sizes.
constexpr std::size_t widest_gap = 4;
constexpr std::size_t smallest = 64;
// A thinned list may skip one cache size, but not all sizes between two caches.
constexpr std::size_t widest_thinned_gap = 24;

std::uint64_t available_memory(const System& system) {
  constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
  const auto fields = words(system.field("/proc/meminfo", "MemAvailable").value_or(""));
  const auto kilobytes = fields.empty() ? std::nullopt : whole_number(fields.front());
  return kilobytes ? static_cast<std::uint64_t>(*kilobytes) * 1024 : unknown;
}

}  // namespace

std::vector<std::size_t> cache_sizes(const machine::Topology& topology) {
  std::vector<std::size_t> sizes;
  for (const char* name : {"l1", "l2", "l3", "l4"}) {
    const machine::Level* level = find_level(topology, name);
    if (level == nullptr || level->bytes.empty()) continue;
    const auto bytes = *std::max_element(level->bytes.begin(), level->bytes.end());
    if (bytes > 0) sizes.push_back(static_cast<std::size_t>(bytes));
  }
  if (sizes.empty()) sizes = {usual_l1, usual_l2, usual_l3};
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::size_t beyond_caches(const machine::Topology& topology) {
  return 2 * cache_sizes(topology).back();
}

std::size_t cache_sharers(const machine::Topology& topology, const std::vector<int>& copiers) {
  for (const char* cache : {"l3", "l2"}) {
    if (find_level(topology, cache) == nullptr) continue;
    return std::max<std::size_t>(1, fullest_group(topology, cache, copiers).size());
  }
  return 1;
}

namespace {

// Returns the size of the second-largest cache, which is private to a core or shared by few cores.
std::size_t own_cache_bytes(const std::vector<std::size_t>& caches) {
  return caches.size() > 1 ? caches[caches.size() - 2] : caches.back();
}

}  // namespace

std::size_t memory_copy_bytes(const machine::Topology& topology, std::size_t sharers) {
  const auto caches = cache_sizes(topology);
  return std::max(far_beyond * caches.back() / sharers, far_beyond * own_cache_bytes(caches));
}

std::vector<std::size_t> sizes_past_own_caches(const machine::Topology& topology,
                                               const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> past = sizes;
  const std::size_t own = own_cache_bytes(cache_sizes(topology));
  std::erase_if(past, [own](std::size_t size) { return size < own; });
  return past;
}

std::vector<std::size_t> copy_sizes(const machine::Topology& topology, std::size_t largest) {
  std::set<std::size_t> wanted = {smallest, 512, 4096, largest};
  for (const std::size_t cache : cache_sizes(topology)) {
    wanted.insert(cache / fits);
    wanted.insert(cache / fits_just);
    wanted.insert(cache);
  }
  std::vector<std::size_t> sizes;
  for (const std::size_t size : wanted) {
    if (size > largest) break;
    // The largest size is kept even if another one is close to it.
    const bool crowded = !sizes.empty() && static_cast<double>(size) <
                                               nearest_ratio * static_cast<double>(sizes.back());
    if (crowded && size != largest) continue;
    if (crowded) sizes.pop_back();
    while (!sizes.empty() && size > widest_gap * sizes.back()) sizes.push_back(sizes.back() * 4);
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::size_t> thinned_sizes(const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == sizes.size();
    if (is_end || i % 2 == 0 || sizes[i + 1] > widest_thinned_gap * kept.back()) {
      kept.push_back(sizes[i]);
    }
  }
  return kept;
}

std::uint64_t usable_memory_bytes(const System& system) {
  const std::uint64_t available = available_memory(system);
  const auto limit = read_cgroup_limits(system).memory_bytes;
  return limit ? std::min(available, static_cast<std::uint64_t>(*limit)) : available;
}

}  // namespace huddle::calibrate
