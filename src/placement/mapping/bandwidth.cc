// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/mapping/bandwidth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/mapping/memory_time.h"

namespace huddle::mapping {

std::optional<double> memory_gb_per_s(const machine::CostModel& model, std::span<const int> pus) {
  const SlotTree tree(model, {{pus.begin(), pus.end()}, 1, 0});
  Mapping all(pus.size());
  std::iota(all.begin(), all.end(), 0);
  return memory_gb_per_s(model, tree, all);
}

std::optional<double> memory_gb_per_s(const machine::CostModel& model, const SlotTree& tree,
                                      const Mapping& mapping) {
  if (contended_levels(model.machine()).empty()) return std::nullopt;
  // The duration is 0, so that all of them stream all the time.
  const MemoryTraffic traffic{.seconds = 0, .bytes = std::vector<double>(mapping.size(), 1)};
  return MemoryTimes(model, tree, traffic, mapping).gb_per_s(mapping);
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

namespace {

// Returns whether the groups of this level have memory of their own.
bool has_memory(const machine::Level& level) {
  return level.name == "package" || level.name == "numa";
}

class Balancer {
 public:
  Balancer(const machine::Topology& topology, const machine::CpuSet& required)
      : topology_(topology), index_(topology), required_(required) {}

  bool is_one_domain(const std::vector<int>& pus) const {
    for (std::size_t level = 0; level < topology_.levels.size(); ++level) {
      if (has_memory(topology_.levels[level]) && domains_of(pus, level).size() > 1) return false;
    }
    return true;
  }

  // Distributes `elements` over the domains of the `level` innermost levels, outermost level first.
  void choose(std::vector<int> pus, int elements, std::size_t level) {
    while (level > 0 && !has_memory(topology_.levels[level - 1])) --level;
    if (level == 0) {
      take(std::move(pus), elements);
      return;
    }
    const std::vector<std::vector<int>> domains = domains_of(pus, level - 1);
    const std::vector<int> shares = even_shares(domains, elements);
    for (std::size_t d = 0; d < domains.size(); ++d) {
      choose(domains[d], shares[d], level - 1);
    }
  }

  void choose_cores_first(std::vector<int> pus, int elements) {
    put_required_first(pus);
    const std::vector<int> thread_of_core = numbers_within_cores(pus);
    std::vector<std::pair<int, int>> others;  // ascending: preferred hardware threads first
    for (std::size_t i = 0; i < pus.size(); ++i) {
      if (thread_of_core[i] == 0 || required_.contains(pus[i])) {
        chosen_.push_back(pus[i]);
      } else {
        others.emplace_back(thread_of_core[i], pus[i]);
      }
    }
    std::sort(others.begin(), others.end());
    for (const auto& [number, pu] : others) {
      if (static_cast<int>(chosen_.size()) >= elements) break;
      chosen_.push_back(pu);
    }
  }

  std::vector<int> chosen() && {
    std::sort(chosen_.begin(), chosen_.end());
    return std::move(chosen_);
  }

 private:
  // Groups `pus` by level; groups are in the order of their first member. Hardware threads that are
  // in no group of this level form one domain.
  std::vector<std::vector<int>> domains_of(const std::vector<int>& pus, std::size_t level) const {
    std::vector<std::vector<int>> domains;
    std::map<int, std::size_t> domain_of;
    for (const int pu : pus) {
      const auto [found, is_new] = domain_of.try_emplace(index_.group(level, pu), domains.size());
      if (is_new) domains.emplace_back();
      domains[found->second].push_back(pu);
    }
    return domains;
  }

  // Gives each domain its required hardware threads, and the rest one by one to the emptiest.
  std::vector<int> even_shares(const std::vector<std::vector<int>>& domains, int elements) const {
    std::vector<int> shares;
    for (const std::vector<int>& pus : domains) {
      shares.push_back(required_in(pus));
      elements -= shares.back();
    }
    const auto is_full = [&](std::size_t d) {
      return shares[d] == static_cast<int>(domains[d].size());
    };
    while (elements > 0) {
      std::size_t least = domains.size();
      for (std::size_t d = 0; d < domains.size(); ++d) {
        if (!is_full(d) && (least == domains.size() || shares[d] < shares[least])) least = d;
      }
      if (least == domains.size()) break;  // all domains are full
      ++shares[least];
      --elements;
    }
    return shares;
  }

  int required_in(const std::vector<int>& pus) const {
    return static_cast<int>(
        std::count_if(pus.begin(), pus.end(), [this](int pu) { return required_.contains(pu); }));
  }

  void take(std::vector<int> pus, int elements) {
    put_required_first(pus);
    const std::vector<int> thread_of_core = numbers_within_cores(pus);
    std::vector<std::tuple<bool, int, int>> order;  // ascending: preferred hardware threads first
    for (std::size_t i = 0; i < pus.size(); ++i) {
      order.emplace_back(!required_.contains(pus[i]), thread_of_core[i], pus[i]);
    }
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(elements, 0))));
    for (const auto& one : order) chosen_.push_back(std::get<2>(one));
  }

  // A core whose second hardware thread is required is thereby in use.
  void put_required_first(std::vector<int>& pus) const {
    std::stable_partition(pus.begin(), pus.end(),
                          [this](int pu) { return required_.contains(pu); });
  }

  // Returns for each hardware thread its index among those of `pus` that share its core.
  std::vector<int> numbers_within_cores(const std::vector<int>& pus) const {
    std::vector<int> numbers(pus.size(), 0);
    const auto core = std::find_if(topology_.levels.begin(), topology_.levels.end(),
                                   [](const machine::Level& one) { return one.name == "core"; });
    if (core == topology_.levels.end()) return numbers;
    const auto level = static_cast<std::size_t>(core - topology_.levels.begin());
    std::map<int, int> seen;
    for (std::size_t i = 0; i < pus.size(); ++i) {
      const int group = index_.group(level, pus[i]);
      if (group != machine::GroupIndex::no_group) numbers[i] = seen[group]++;
    }
    return numbers;
  }

  const machine::Topology& topology_;
  machine::GroupIndex index_;
  const machine::CpuSet& required_;
  std::vector<int> chosen_;
};

}  // namespace

std::vector<int> balanced_pus(const machine::Topology& topology, const std::vector<int>& candidates,
                              const machine::CpuSet& required, int elements) {
  Balancer balancer(topology, required);
  if (balancer.is_one_domain(candidates)) {
    balancer.choose_cores_first(candidates, elements);
  } else {
    balancer.choose(candidates, elements, topology.levels.size());
  }
  return std::move(balancer).chosen();
}

std::vector<int> cores_first(const machine::Topology& topology, const std::vector<int>& candidates,
                             const machine::CpuSet& required, int elements) {
  Balancer balancer(topology, required);
  balancer.choose_cores_first(candidates, elements);
  return std::move(balancer).chosen();
}

}  // namespace huddle::mapping
