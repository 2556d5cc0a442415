// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/bandwidth.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace huddle::place {
namespace {

using machine::CopyCurve;
using machine::Machine;

// Far more than the caches hold: the largest size that was measured.
double largest_bytes(const Machine& machine) {
  double bytes = 0;
  for (const CopyCurve& copy : machine.copy) bytes = std::max(bytes, copy.curve.bytes.back());
  return bytes;
}

// Levels with curves of several copiers.
std::set<std::string> contended_levels(const Machine& machine) {
  std::set<std::string> levels;
  for (const CopyCurve& copy : machine.copy) {
    if (copy.copiers > 1) levels.insert(copy.level);
  }
  return levels;
}

// The time of a copy on each of the processors, while all of them copy.
class Copies {
 public:
  Copies(const machine::CostModel& model, std::span<const int> pus)
      : model_(model),
        index_(model.machine().topology),
        pus_(pus),
        bytes_(largest_bytes(model.machine())),
        ns_(pus.size(), 0) {}

  void contend_at(const std::string& level) {
    const std::vector<machine::Level>& levels = model_.machine().topology.levels;
    const auto found = std::find_if(levels.begin(), levels.end(),
                                    [&level](const auto& one) { return one.name == level; });
    const auto number = static_cast<std::size_t>(found - levels.begin());
    const auto group_of = [&](int pu) {  // the machine is one group
      return number == levels.size() ? 0 : index_.group(number, pu);
    };
    std::map<int, int> copiers;
    for (const int pu : pus_) ++copiers[group_of(pu)];
    for (std::size_t i = 0; i < pus_.size(); ++i) {
      const int group = group_of(pus_[i]);
      if (group == machine::GroupIndex::no_group) continue;
      ns_[i] = std::max(ns_[i], ns_of(pus_[i], level, copiers[group]));
    }
  }

  double gb_per_s() const {
    double sum = 0;
    for (const double ns : ns_) sum += ns > 0 ? bytes_ / ns : 0;
    return sum;
  }

 private:
  double ns_of(int pu, const std::string& level, int copiers) const {
    return model_.copy_ns({.bytes = bytes_,
                           .copier = pu,
                           .peer = pu,
                           .source = machine::Source::near_memory,
                           .others = copiers - 1,
                           .others_share = level});
  }

  const machine::CostModel& model_;
  machine::GroupIndex index_;
  std::span<const int> pus_;
  double bytes_;
  std::vector<double> ns_;
};

}  // namespace

std::optional<double> memory_gb_per_s(const machine::CostModel& model, std::span<const int> pus) {
  const std::set<std::string> levels = contended_levels(model.machine());
  if (levels.empty()) return std::nullopt;
  Copies copies(model, pus);
  for (const std::string& level : levels) copies.contend_at(level);
  return copies.gb_per_s();
}

std::optional<double> memory_gb_per_s(const machine::CostModel& model, const SlotTree& tree,
                                      const Mapping& mapping) {
  std::map<int, std::vector<int>> pus_of_node;
  for (const int slot : mapping) {
    const Slot& where = tree.slots()[static_cast<std::size_t>(slot)];
    pus_of_node[where.node].push_back(where.pu);
  }
  double sum = 0;
  for (const auto& [node, pus] : pus_of_node) {
    const std::optional<double> rate = memory_gb_per_s(model, pus);
    if (!rate) return std::nullopt;
    sum += *rate;
  }
  return sum;
}

MemoryUse memory_use(const machine::CostModel& model, std::span<const int> pus) {
  std::set<const machine::NumaNode*> nodes;
  for (const int pu : pus) nodes.insert(home_node(model.machine().topology, pu));
  return {static_cast<int>(nodes.size()), memory_gb_per_s(model, pus)};
}

bool uses_less(const MemoryUse& after, const MemoryUse& before) {
  if (after.numa_nodes < before.numa_nodes) return true;
  return after.gb_per_s && before.gb_per_s &&
         *after.gb_per_s < least_bandwidth_kept * *before.gb_per_s;
}

}  // namespace huddle::place
