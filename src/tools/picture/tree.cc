// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/tree.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <iterator>

#include "tools/picture/facts.h"

namespace huddle::picture {
namespace {

using machine::CpuSet;
using machine::Level;
using machine::Topology;

// Returns whether a level that belongs to a single core is shown as a part of the core. Other such
// levels stay boxes around it.
bool merges_into_core(const std::string& level) { return level == "l1" || level == "l2"; }

Allowance allowance_of(const CpuSet& cpus, const std::optional<CpuSet>& allowed) {
  if (!allowed) return Allowance::unknown;
  if (allowed->contains(cpus)) return Allowance::all;
  return allowed->intersects(cpus) ? Allowance::some : Allowance::none;
}

class Builder {
 public:
  Builder(const Topology& topology, const TreeOptions& options)
      : topology_(topology), options_(options), letters_(kind_letters(topology)) {}

  Node build() const {
    Node root;
    root.level = machine::whole_machine;
    root.titles = {root_title()};
    root.shape = root.level;
    root.cpus = topology_.pus;
    root.allowance = allowance_of(root.cpus, options_.allowed);
    root.children = parts_of(topology_.pus, topology_.levels.size());
    root = with_only_child_merged(std::move(root));
    add_memory(root);
    if (!topology_.offline.empty()) root.children.push_back(offline_cell());
    return root;
  }

 private:
  // Returns the NUMA node that contains all hardware threads, which is named beside the machine's
  // name; null if there are several nodes.
  const machine::NumaNode* only_node() const {
    if (machine::find_level(topology_, "numa") != nullptr) return nullptr;
    const auto& numa = topology_.numa;
    const auto node = std::find_if(numa.begin(), numa.end(), [&](const auto& n) {
      return !n.memory_only && n.cpus == topology_.pus;
    });
    return node == numa.end() ? nullptr : &*node;
  }

  std::string root_title() const {
    const machine::NumaNode* node = only_node();
    if (node == nullptr || node->bytes == 0) return std::string(machine::whole_machine);
    const std::string named = memory_title(*node);
    return fmt::format("{}{}", machine::whole_machine, named.substr(named.rfind(' ')));
  }

  // Divides `cpus` into parts by the levels before `end`, ordered by their first hardware threads.
  std::vector<Node> parts_of(const CpuSet& cpus, std::size_t end) const {
    std::vector<Node> parts;
    if (cpus.empty()) return parts;
    if (end == 0) {
      for (const int cpu : cpus) parts.push_back(core_cell(CpuSet({cpu})));
      return parts;
    }
    const Level& level = topology_.levels[end - 1];
    CpuSet rest = cpus;
    for (std::size_t i = 0; i < level.groups.size(); ++i) {
      if (!cpus.contains(level.groups[i])) continue;
      parts.push_back(group_node(end - 1, i));
      rest = without(rest, level.groups[i]);
    }
    std::vector<Node> deeper = parts_of(rest, end - 1);
    std::move(deeper.begin(), deeper.end(), std::back_inserter(parts));
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Node& a, const Node& b) { return a.cpus.first() < b.cpus.first(); });
    return parts;
  }

  Node group_node(std::size_t level_index, std::size_t group) const {
    const Level& level = topology_.levels[level_index];
    const std::string title = group_title(topology_, level, group);
    if (level.name == "core") {
      Node cell = core_cell(level.groups[group]);
      return options_.core_titles ? with_title(std::move(cell), title) : cell;
    }
    Node node;
    node.level = level.name;
    node.titles = {title};
    node.shape = group_shape(level, group);
    node.cpus = level.groups[group];
    node.allowance = allowance_of(node.cpus, options_.allowed);
    node.children = parts_of(node.cpus, level_index);
    return with_only_child_merged(std::move(node));
  }

  // Merges a level with its only child if both have the same hardware threads.
  Node with_only_child_merged(Node outer) const {
    if (outer.children.size() != 1 || outer.children[0].cpus != outer.cpus) return outer;
    Node inner = std::move(outer.children[0]);
    const bool core = inner.kind == NodeKind::core || inner.level == "core";
    if (core && !merges_into_core(outer.level)) {
      outer.children[0] = std::move(inner);
      return outer;
    }
    inner.titles.insert(core ? inner.titles.end() : inner.titles.begin(), outer.titles.begin(),
                        outer.titles.end());
    inner.shape = outer.shape + "+" + inner.shape;
    if (!core) inner.level = outer.level;
    return inner;
  }

  Node core_cell(const CpuSet& cpus) const {
    Node cell;
    cell.kind = NodeKind::core;
    cell.cpus = cpus;
    cell.allowance = allowance_of(cpus, options_.allowed);
    cell.core_kind = kind_of(cpus);
    cell.lesser_core =
        cell.core_kind >= 0 && is_lesser(topology_, static_cast<std::size_t>(cell.core_kind));
    cell.label = core_label(cell);
    cell.shape = fmt::format("core of {} kind {} allowed {}", cpus.count(), cell.core_kind,
                             static_cast<int>(cell.allowance));
    return cell;
  }

  static Node with_title(Node cell, const std::string& title) {
    Node box = cell;
    box.kind = NodeKind::box;
    box.level = "core";
    box.titles = {title};
    box.label.clear();
    box.children = {std::move(cell)};
    return box;
  }

  int kind_of(const CpuSet& cpus) const {
    for (std::size_t i = 0; i < topology_.kinds.size(); ++i) {
      if (topology_.kinds[i].cpus.intersects(cpus)) return static_cast<int>(i);
    }
    return -1;
  }

  // Returns for example "P0,64", with a mark before each number, or with one mark if all are the
  // same.
  std::string core_label(const Node& cell) const {
    const std::string letter =
        cell.core_kind < 0 ? "" : letters_[static_cast<std::size_t>(cell.core_kind)];
    const Marks& marks = options_.marks;
    switch (cell.allowance) {
      case Allowance::unknown:
        return letter + cell.cpus.text();
      case Allowance::none:
        return marks.other + letter + cell.cpus.text();
      case Allowance::all:
        return marks.allowed + letter + cell.cpus.text();
      case Allowance::some:
        break;
    }
    std::string label;
    for (const int cpu : cell.cpus) {
      const bool ours = options_.allowed->contains(cpu);
      label += fmt::format("{}{}{}{}", label.empty() ? "" : ",", ours ? marks.allowed : marks.other,
                           label.empty() ? letter : "", cpu);
    }
    return label;
  }

  // Adds each NUMA node that has no box to the innermost box around its hardware threads.
  void add_memory(Node& root) const {
    const Level* level = machine::find_level(topology_, "numa");
    for (const machine::NumaNode& node : topology_.numa) {
      const bool has_box =
          &node == only_node() ||
          (level != nullptr && !node.memory_only &&
           std::find(level->groups.begin(), level->groups.end(), node.cpus) != level->groups.end());
      if (!has_box) box_around(root, node.cpus).children.push_back(memory_cell(node));
    }
  }

  static Node& box_around(Node& box, const CpuSet& cpus) {
    if (cpus.empty()) return box;
    const auto inner = std::find_if(box.children.begin(), box.children.end(), [&](const Node& n) {
      return n.kind == NodeKind::box && n.level != "core" && n.cpus.contains(cpus);
    });
    return inner == box.children.end() ? box : box_around(*inner, cpus);
  }

  static Node memory_cell(const machine::NumaNode& node) {
    Node cell;
    cell.kind = NodeKind::memory;
    cell.label = memory_title(node);
    cell.shape = fmt::format("memory {} {}", node.kind, node.bytes);
    return cell;
  }

  Node offline_cell() const {
    Node cell;
    cell.kind = NodeKind::offline;
    cell.label = fmt::format("{}offline {}", options_.marks.offline, topology_.offline.text());
    cell.shape = "offline";
    return cell;
  }

  const Topology& topology_;
  const TreeOptions& options_;
  std::vector<std::string> letters_;
};

// Returns the caches of one core alone, innermost first.
std::string caches_of(const Topology& topology, const CpuSet& core) {
  std::string text;
  for (const Level& level : topology.levels) {
    const auto group = std::find(level.groups.begin(), level.groups.end(), core);
    if (group == level.groups.end() || !merges_into_core(level.name)) continue;
    const auto index = static_cast<std::size_t>(group - level.groups.begin());
    text += (text.empty() ? "" : ", ") + group_title(topology, level, index);
  }
  return text;
}

}  // namespace

Node make_tree(const Topology& topology, const TreeOptions& options) {
  return Builder(topology, options).build();
}

bool is_lesser(const Topology& topology, std::size_t kind) {
  return std::any_of(topology.kinds.begin(), topology.kinds.end(), [&](const auto& other) {
    return other.efficiency > topology.kinds[kind].efficiency;
  });
}

std::vector<std::string> kind_letters(const Topology& topology) {
  std::vector<std::string> letters;
  for (const machine::CoreKind& kind : topology.kinds) {
    const char first = kind.name.empty() ? '?' : kind.name.front();
    std::string letter(1, static_cast<char>(std::toupper(static_cast<unsigned char>(first))));
    const bool taken = std::find(letters.begin(), letters.end(), letter) != letters.end();
    // Kinds with the same initial get consecutive letters of the alphabet instead.
    letters.push_back(taken ? std::string(1, static_cast<char>('a' + letters.size())) : letter);
  }
  return letters;
}

std::vector<std::string> own_caches(const Topology& topology) {
  const Level* cores = machine::find_level(topology, "core");
  if (cores == nullptr) return {};
  std::vector<std::string> lines;
  for (const CpuSet& core : cores->groups) {
    const std::string caches = caches_of(topology, core);
    const auto kind = std::find_if(topology.kinds.begin(), topology.kinds.end(),
                                   [&](const auto& k) { return k.cpus.intersects(core); });
    const std::string name = kind == topology.kinds.end() ? "" : kind->name + " ";
    const std::string line = fmt::format("each {}core: {}", name, caches);
    const bool known = std::find(lines.begin(), lines.end(), line) != lines.end();
    if (!caches.empty() && !known) lines.push_back(line);
  }
  return lines;
}

std::vector<LegendItem> legend_of(const machine::Topology& topology,
                                  const std::optional<machine::CpuSet>& allowed,
                                  bool caches_are_shown) {
  std::vector<LegendItem> items;
  const int all = topology.pus.count();
  if (allowed) {
    const int ours = common(*allowed, topology.pus).count();
    items.push_back({Sign::allowed, fmt::format("{} of {} hardware threads allowed", ours, all)});
    if (ours < all) items.push_back({Sign::other, "not allowed"});
  }
  if (!topology.offline.empty()) {
    items.push_back({Sign::offline, fmt::format("{} offline", topology.offline.count())});
  }
  const std::vector<std::string> letters = kind_letters(topology);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const machine::CoreKind& kind = topology.kinds[i];
    items.push_back({is_lesser(topology, i) ? Sign::lesser_core : Sign::core,
                     fmt::format("{} {} ({})", letters[i], kind.name, kind.cpus.text())});
  }
  if (caches_are_shown) return items;
  for (const std::string& line : own_caches(topology)) items.push_back({Sign::none, line});
  return items;
}

}  // namespace huddle::picture
