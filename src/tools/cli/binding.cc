// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.h"
#include "common/text.h"

namespace huddle::cli {
namespace {

using machine::CpuSet;
using machine::Topology;

constexpr std::string_view unbound = "none";
constexpr std::string_view thread = "hwthread";

// What the topology calls it.
std::string level_of(const std::string& word) {
  if (word == "socket") return "package";
  constexpr std::string_view cache = "cache";
  return word.ends_with(cache) ? word.substr(0, word.size() - cache.size()) : word;
}

std::vector<CpuSet> cores_of(const Topology& topology) {
  std::vector<CpuSet> cores;
  for (const int first : machine::first_pu_of_cores(topology)) {
    CpuSet core({first});
    if (const machine::Level* const level = find_level(topology, "core")) {
      for (const CpuSet& group : level->groups) {
        if (group.contains(first)) core = group;
      }
    }
    cores.push_back(core);
  }
  return cores;
}

std::vector<CpuSet> threads_of(const Topology& topology) {
  std::vector<CpuSet> threads;
  for (const CpuSet& core : cores_of(topology)) {
    for (const int pu : core) threads.push_back(CpuSet({pu}));
  }
  return threads;
}

std::vector<CpuSet> nodes_of(const Topology& topology) {
  std::vector<CpuSet> nodes;
  for (const machine::NumaNode& node : topology.numa) {
    if (!node.memory_only) nodes.push_back(node.cpus);
  }
  return nodes;
}

// None where the machine has no such thing.
std::vector<CpuSet> groups_of(const std::string& level, const Topology& topology) {
  if (level == unbound) return {topology.pus};
  if (level == thread) return threads_of(topology);
  if (level == "core") return cores_of(topology);
  if (level == "numa") return nodes_of(topology);
  const machine::Level* const found = find_level(topology, level);
  return found == nullptr ? std::vector<CpuSet>() : found->groups;
}

}  // namespace

std::vector<std::string> binding_words() {
  return {std::string(thread), "core", "l2", "l3", "numa", "package", std::string(unbound)};
}

std::vector<CpuSet> binding_groups(const std::string& word, const Topology& topology,
                                   const CpuSet& usable) {
  std::vector<CpuSet> groups;
  for (const CpuSet& group : groups_of(level_of(word), topology)) {
    CpuSet part = common(group, usable);
    if (!part.empty()) groups.push_back(std::move(part));
  }
  if (!groups.empty()) return groups;
  const std::vector<std::string> known = binding_words();
  const std::string guess = did_you_mean(word, known);
  throw UsageError(
      fmt::format("--bind: this machine has no '{}'{}", printable(word),
                  guess.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : guess));
}

std::vector<int> bound_processors(int ranks, const std::vector<CpuSet>& groups) {
  std::vector<int> processors;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const std::vector<int>& choice = groups[rank % groups.size()].cpus();
    processors.push_back(choice[rank / groups.size() % choice.size()]);
  }
  return processors;
}

}  // namespace huddle::cli
