// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/sizes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "common/cgroup_limits.h"
#include "tools/calibrate/cores.h"

namespace huddle::calibrate {
namespace {

// Where the firmware does not say what caches there are: those of a usual server.
constexpr std::size_t usual_l1 = 32 << 10;
constexpr std::size_t usual_l2 = 1 << 20;
constexpr std::size_t usual_l3 = 32 << 20;
// A working set of half of a cache fits surely, one of the whole cache just so, and one of twice
// the cache surely does not; a copy touches twice what it moves.
constexpr std::size_t fits = 4;
constexpr std::size_t fits_just = 2;
constexpr std::size_t far_beyond = 4;
// Neighbouring sizes lie at least so far apart...
constexpr double nearest_ratio = 1.6;
// ...and at most so far.
constexpr std::size_t widest_gap = 4;
constexpr std::size_t smallest = 64;
// A thinned list may leave out a size of a cache, but not all that lie between two caches.
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

// Of the caches that a core has for itself, or with few others, the largest.
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
    // The largest stays whatever lies shortly before it.
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
