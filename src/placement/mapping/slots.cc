// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "common/error.h"

namespace huddle::mapping {
namespace {

using machine::GroupIndex;
using machine::Topology;

// Returns the group of `pu` at `level`, or at the nearest inner level that has one; else `pu`.
std::pair<int, int> cluster(const GroupIndex& index, int level, int pu) {
  for (; level >= 0; --level) {
    const int group = index.group(static_cast<std::size_t>(level), pu);
    if (group != GroupIndex::no_group) return {level, group};
  }
  return {-1, pu};
}

// The tree of one node. Its objects record the level of the topology at which they were split.
class TreeOfNode {
 public:
  TreeOfNode(const Topology& topology, std::vector<int> members) : index_(topology) {
    std::sort(members.begin(), members.end());
    add(std::move(members), static_cast<int>(topology.levels.size()) - 1);
  }

  // `level` is the topology level of the split; -1 if the children are single hardware threads.
  std::vector<Object> objects;
  std::vector<int> pus;  // in the order of the leaves

 private:
  int add(std::vector<int> members, int level) {
    const int number = static_cast<int>(objects.size());
    objects.push_back({});
    const int first = static_cast<int>(pus.size());
    std::vector<int> children;
    if (members.size() == 1) {
      pus.push_back(members.front());
    } else {
      auto parts = split(members, level);
      while (parts.size() == 1) parts = split(members, --level);
      for (std::vector<int>& part : parts) children.push_back(add(std::move(part), level - 1));
    }
    objects[static_cast<std::size_t>(number)] = {first, static_cast<int>(pus.size()),
                                                 std::move(children), level};
    return number;
  }

  // Splits by group, in the order of the first members.
  std::vector<std::vector<int>> split(const std::vector<int>& members, int level) const {
    std::vector<std::vector<int>> parts;
    std::map<std::pair<int, int>, std::size_t> part_of;
    for (const int pu : members) {
      const auto [found, is_new] = part_of.try_emplace(cluster(index_, level, pu), parts.size());
      if (is_new) parts.emplace_back();
      parts[found->second].push_back(pu);
    }
    return parts;
  }

  GroupIndex index_;
};

}  // namespace

std::string slot_text(const Slot& slot, int nodes) {
  return nodes == 1 ? fmt::format("{}", slot.pu) : fmt::format("{}:{}", slot.node, slot.pu);
}

SlotTree::SlotTree(const machine::CostModel& model, const SlotRequest& request)
    : nodes_(request.nodes) {
  const Topology& topology = model.machine().topology;
  const TreeOfNode node(topology, request.pus);
  const int network = static_cast<int>(topology.levels.size());
  slots_a_node_ = static_cast<int>(node.pus.size());
  // Several nodes get a common root.
  if (nodes_ > 1) {
    objects_.push_back({0, nodes_ * slots_a_node_, {}, network});
    const int objects_a_node = static_cast<int>(node.objects.size());
    for (int n = 0; n < nodes_; ++n) objects_[0].children.push_back(1 + n * objects_a_node);
  }
  for (int n = 0; n < nodes_; ++n) {
    const int shift = static_cast<int>(objects_.size());
    for (const int pu : node.pus) {
      slots_.push_back({n, pu});
      nodes_of_.push_back(n);
    }
    for (Object object : node.objects) {
      object.first += n * slots_a_node_;
      object.last += n * slots_a_node_;
      for (int& child : object.children) child += shift;
      objects_.push_back(std::move(object));
    }
  }
  find_levels(model, request.network_ns);
  find_shapes();
  if (model.machine().pairs) measure_pairs(model);
}

// Gives numbers from 0 to the levels at which objects are split, which are few of the topology's
// levels, and assigns to each the code bits that distinguish the children of its objects.
void SlotTree::find_levels(const machine::CostModel& model, double network_ns) {
  const Topology& topology = model.machine().topology;
  const int network = static_cast<int>(topology.levels.size());
  struct Split {
    int width = 0;  // bits
    int shift = 0;
    int level = 0;
    double ns = 0;
  };
  std::map<int, Split> splits;  // innermost first
  for (const Object& object : objects_) {
    if (object.is_leaf()) continue;
    Split& split = splits[object.level];
    const int width = static_cast<int>(std::bit_width(object.children.size() - 1));
    if (split.width == 0) {
      const auto pu_below = [&](std::size_t child) {
        const Object& below = objects_[static_cast<std::size_t>(object.children[child])];
        return slots_[static_cast<std::size_t>(below.first)].pu;
      };
      split.ns = object.level == network ? network_ns : model.line_ns(pu_below(0), pu_below(1));
    }
    split.width = std::max(split.width, width);
  }
  int bits = 0;
  level_of_bit_.push_back(0);
  ns_of_bit_.push_back(splits.empty() ? 1 : splits.begin()->second.ns);
  for (auto& [number, split] : splits) {
    split.shift = bits;
    split.level = static_cast<int>(levels_.size());
    bits += split.width;
    std::string name = number == network ? "network"
                       : number + 1 == network
                           ? std::string(machine::whole_machine)
                           : topology.levels[static_cast<std::size_t>(number) + 1].name;
    levels_.push_back({std::move(name), split.ns});
    const auto width = static_cast<std::size_t>(split.width);
    level_of_bit_.insert(level_of_bit_.end(), width, split.level);
    ns_of_bit_.insert(ns_of_bit_.end(), width, split.ns);
  }
  if (bits > std::numeric_limits<std::uint64_t>::digits) {
    throw InputError("the machine has more levels of shared hardware than huddle map supports");
  }
  codes_.assign(slots_.size(), 0);
  for (Object& object : objects_) {
    if (object.is_leaf()) continue;
    const Split& split = splits[object.level];
    for (std::size_t child = 0; child < object.children.size(); ++child) {
      const Object& below = objects_[static_cast<std::size_t>(object.children[child])];
      const std::uint64_t code = static_cast<std::uint64_t>(child) << split.shift;
      for (int s = below.first; s < below.last; ++s) codes_[static_cast<std::size_t>(s)] |= code;
    }
    object.level = split.level;
  }
}

void SlotTree::measure_pairs(const machine::CostModel& model) {
  const auto n = static_cast<std::size_t>(slots_a_node_);
  measured_ns_.resize(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      measured_ns_[a * n + b] = static_cast<float>(
          a == b ? ns_of_bit_.front() : model.line_ns(slots_[a].pu, slots_[b].pu));
    }
  }
}

void SlotTree::find_shapes() {
  shapes_.assign(objects_.size(), 0);
  std::map<std::vector<int>, int> known;  // key: the level, then the shapes of the children
  for (std::size_t o = objects_.size(); o-- > 0;) {
    std::vector<int> shape;
    if (!objects_[o].is_leaf()) shape.push_back(objects_[o].level);
    for (const int child : objects_[o].children) {
      shape.push_back(shapes_[static_cast<std::size_t>(child)]);
    }
    shapes_[o] = known.try_emplace(std::move(shape), static_cast<int>(known.size())).first->second;
  }
}

int SlotTree::slot_of(const Slot& slot) const {
  if (slot.node >= nodes_) return -1;
  const auto of_node = slots_.begin() + static_cast<std::ptrdiff_t>(slot.node) * slots_a_node_;
  const auto end = of_node + slots_a_node_;
  const auto found = std::find(of_node, end, slot);
  return found == end ? -1 : static_cast<int>(found - slots_.begin());
}

std::vector<int> chosen_pus(const Topology& topology, const machine::CpuSet& allowed,
                            const machine::CpuSet& wanted, int elements, int nodes) {
  const machine::CpuSet usable = common(topology.pus, allowed);
  const machine::Level* const cores = find_level(topology, "core");
  if (cores == nullptr) return usable.cpus();
  std::vector<int> one_a_core = usable.cpus();
  for (const machine::CpuSet& core : cores->groups) {
    const machine::CpuSet threads = common(core, usable);
    if (threads.count() < 2) continue;
    const machine::CpuSet named = common(threads, wanted);
    for (const int pu : threads) {
      const bool stays = named.empty() ? pu == threads.first() : named.contains(pu);
      if (!stays) one_a_core.erase(std::find(one_a_core.begin(), one_a_core.end(), pu));
    }
  }
  const bool enough = static_cast<long long>(one_a_core.size()) * nodes >= elements;
  return enough ? one_a_core : usable.cpus();
}

}  // namespace huddle::mapping
