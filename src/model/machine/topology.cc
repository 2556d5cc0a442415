// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/machine/topology.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <set>

#include "common/arithmetic.h"
#include "common/error.h"
#include "common/text.h"

namespace huddle::machine {
namespace {

// Larger than any OS index. Prevents an invalid "0-4000000000" from exhausting memory.
constexpr int largest_cpu = (1 << 16) - 1;

[[noreturn]] void refuse(std::string_view text) {
  throw InputError(fmt::format("'{}' is not a list of hardware threads such as \"0-3,8\"", text));
}

int parse_number(std::string_view digits, std::string_view whole) {
  int value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) refuse(whole);
  if (value < 0 || value > largest_cpu) refuse(whole);
  return value;
}

void parse_range(std::string_view range, std::string_view whole, std::vector<int>& cpus) {
  const std::size_t dash = range.find('-');
  const int first = parse_number(range.substr(0, dash), whole);
  const int last =
      dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1), whole);
  if (last < first) refuse(whole);
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

CpuSet CpuSet::parse(std::string_view text) {
  if (text.empty()) return {};
  std::vector<int> cpus;
  for (const std::string_view range : split(text, ',')) {
    parse_range(range, text, cpus);
    if (cpus.size() > at(largest_cpu)) refuse(text);
  }
  return CpuSet(std::move(cpus));
}

std::string CpuSet::text() const {
  std::string result;
  for (std::size_t i = 0; i < cpus_.size();) {
    std::size_t last = i;
    while (last + 1 < cpus_.size() && cpus_[last + 1] == cpus_[last] + 1) ++last;
    if (!result.empty()) result += ',';
    result += last == i ? fmt::format("{}", cpus_[i]) : fmt::format("{}-{}", cpus_[i], cpus_[last]);
    i = last + 1;
  }
  return result;
}

bool CpuSet::contains(int cpu) const { return std::binary_search(cpus_.begin(), cpus_.end(), cpu); }

bool CpuSet::contains(const CpuSet& other) const {
  return std::includes(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end());
}

bool CpuSet::intersects(const CpuSet& other) const {
  return std::any_of(other.begin(), other.end(), [this](int cpu) { return contains(cpu); });
}

CpuSet united(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

CpuSet common(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

CpuSet without(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

namespace {

// FNV-1a: short, stable, and equal on all platforms.
std::uint32_t hash_text(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}

// Returns a processor model for file names: "AMD EPYC 9554 64-Core Processor" ->
// "amd-epyc-9554-64".
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

GroupIndex::GroupIndex(const Topology& topology) : levels_(topology.levels.size()) {
  const std::size_t last =
      topology.pus.empty() ? 0 : static_cast<std::size_t>(*(topology.pus.end() - 1));
  group_of_.assign((last + 1) * levels_, no_group);
  for (std::size_t level = 0; level < levels_; ++level) {
    const std::vector<CpuSet>& groups = topology.levels[level].groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (int pu : groups[i])
        group_of_[static_cast<std::size_t>(pu) * levels_ + level] = static_cast<int>(i);
    }
  }
}

std::size_t GroupIndex::joining_level(int a, int b) const {
  const int* const of_a = group_of_.data() + static_cast<std::size_t>(a) * levels_;
  const int* const of_b = group_of_.data() + static_cast<std::size_t>(b) * levels_;
  for (std::size_t level = 0; level < levels_; ++level) {
    if (of_a[level] != no_group && of_a[level] == of_b[level]) return level;
  }
  return levels_;
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
  // A group joins at least one pair of its hardware threads unless an inner group contains all of
  // them.
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
        refuse(fmt::format("level {} contains hardware thread {}, which the machine does not have",
                           level.name, pu));
      }
      if (!seen.insert(pu).second) {
        refuse(fmt::format("level {} has hardware thread {} in two groups", level.name, pu));
      }
    }
  }
}

// Checks that each inner group is inside one group of the outer level or disjoint from all of them.
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
                 fmt::format("level {} is defined twice", topology.levels[i].name));
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
      throw Flaw("topology.numa", i, fmt::format("NUMA node {} is defined twice", node.number));
    }
    if (!topology.pus.contains(node.cpus)) {
      throw Flaw(
          "topology.numa", i,
          fmt::format("NUMA node {} contains hardware threads that the machine does not have",
                      node.number));
    }
  }
  const std::size_t wanted = topology.numa.size() * topology.numa.size();
  if (!topology.numa_distances.empty() && topology.numa_distances.size() != wanted) {
    throw Flaw("topology", 0,
               fmt::format("{} NUMA nodes require {} distances, but there are {}",
                           topology.numa.size(), wanted, topology.numa_distances.size()));
  }
}

void check_processors(const Topology& topology) {
  const auto refuse = [](const std::string& message) { throw Flaw("topology", 0, message); };
  if (topology.pus.empty()) refuse("a machine requires at least one hardware thread");
  if (topology.pus.count() > most_processors) {
    refuse(fmt::format("{} hardware threads are more than the {} that huddle supports",
                       topology.pus.count(), most_processors));
  }
  if (topology.pus.intersects(topology.offline)) {
    refuse(fmt::format("hardware threads {} are both online and offline",
                       common(topology.pus, topology.offline).text()));
  }
  for (const CoreKind& kind : topology.kinds) {
    if (topology.pus.contains(kind.cpus)) continue;
    refuse(fmt::format("core kind {} contains hardware threads that the machine does not have",
                       kind.name));
  }
}

}  // namespace

void validate(const Topology& topology) {
  check_processors(topology);
  check_levels(topology);
  check_numa(topology);
}

}  // namespace huddle::machine
