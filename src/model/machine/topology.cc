// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace huddle::machine {
namespace {

// FNV-1a: short, stable, the same on every processor.
std::uint32_t hash_text(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}

// "AMD EPYC 9554 64-Core Processor" -> "amd-epyc-9554-64": what a person would call it in a file
// name.
std::string model_slug(std::string_view model) {
  static const std::set<std::string> noise = {"r",    "tm",   "cpu",    "processor",
                                              "core", "with", "genuine"};
  std::string slug;
  std::string word;
  const auto flush = [&] {
    if (!word.empty() && !noise.contains(word)) slug += (slug.empty() ? "" : "-") + word;
    word.clear();
  };
  for (const char c : model) {
    if (c == '@') break;  // the rest is a frequency
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      flush();
    }
  }
  flush();
  return slug.empty() ? "unknown" : slug;
}

}  // namespace

const Level* find_level(const Topology& topology, std::string_view name) {
  const auto found = std::find_if(topology.levels.begin(), topology.levels.end(),
                                  [name](const Level& level) { return level.name == name; });
  return found == topology.levels.end() ? nullptr : &*found;
}

GroupIndex::GroupIndex(const Topology& topology) {
  const std::size_t last =
      topology.pus.empty() ? 0 : static_cast<std::size_t>(*(topology.pus.end() - 1));
  for (const Level& level : topology.levels) {
    std::vector<int>& row = group_of_.emplace_back(last + 1, no_group);
    for (std::size_t i = 0; i < level.groups.size(); ++i) {
      for (int pu : level.groups[i]) row[static_cast<std::size_t>(pu)] = static_cast<int>(i);
    }
  }
}

std::size_t GroupIndex::joining_level(int a, int b) const {
  for (std::size_t level = 0; level < levels(); ++level) {
    const int group_of_a = group(level, a);
    if (group_of_a != no_group && group_of_a == group(level, b)) return level;
  }
  return levels();
}

std::size_t joining_level(const Topology& topology, int a, int b) {
  return GroupIndex(topology).joining_level(a, b);
}

std::string_view joining_level_name(const Topology& topology, int a, int b) {
  const std::size_t index = joining_level(topology, a, b);
  return index == topology.levels.size() ? whole_machine
                                         : std::string_view(topology.levels[index].name);
}

std::vector<std::string> joining_levels(const Topology& topology) {
  // A group joins a pair when no inner group holds all of it.
  const GroupIndex index(topology);
  const auto joins = [&index](const CpuSet& group, std::size_t level) {
    return std::any_of(group.begin(), group.end(), [&](int pu) {
      return pu != group.first() && index.joining_level(group.first(), pu) >= level;
    });
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    const auto& groups = topology.levels[i].groups;
    if (std::any_of(groups.begin(), groups.end(), [&](const CpuSet& g) { return joins(g, i); })) {
      names.push_back(topology.levels[i].name);
    }
  }
  if (joins(topology.pus, topology.levels.size())) names.emplace_back(whole_machine);
  return names;
}

std::vector<int> first_pu_of_cores(const Topology& topology) {
  const Level* cores = find_level(topology, "core");
  if (cores == nullptr) return topology.pus.cpus();
  std::set<int> firsts;
  for (const CpuSet& core : cores->groups) firsts.insert(core.first());
  std::vector<int> grouped;
  for (const CpuSet& core : cores->groups) grouped.insert(grouped.end(), core.begin(), core.end());
  for (int pu : without(topology.pus, CpuSet(std::move(grouped)))) firsts.insert(pu);
  return {firsts.begin(), firsts.end()};
}

int core_count(const Topology& topology) {
  return static_cast<int>(first_pu_of_cores(topology).size());
}

const NumaNode* home_node(const Topology& topology, int pu) {
  const NumaNode* home = nullptr;
  for (const NumaNode& node : topology.numa) {
    if (node.memory_only || !node.cpus.contains(pu)) continue;
    if (home == nullptr || node.cpus.count() < home->cpus.count()) home = &node;
  }
  return home;
}

std::string fingerprint(const Topology& topology) {
  std::string tree = topology.cpu_model + "|" + topology.pus.text();
  for (const Level& level : topology.levels) {
    tree += "|" + level.name;
    for (std::size_t i = 0; i < level.groups.size(); ++i) {
      tree += ":" + level.groups[i].text();
      if (!level.bytes.empty()) tree += fmt::format("={}", level.bytes[i]);
    }
  }
  for (const NumaNode& node : topology.numa) {
    tree += fmt::format("|node {}:{}", node.number, node.cpus.text());
  }
  return fmt::format("{}-{}c-{:08x}", model_slug(topology.cpu_model), core_count(topology),
                     hash_text(tree));
}

}  // namespace huddle::machine
