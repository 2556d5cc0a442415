// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/fabric/fabric.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "common/error.h"
#include "common/text.h"

namespace huddle::fabric {
namespace {

void need(bool holds, const std::string& what) {
  if (!holds) throw FailureError("invalid fabric: " + what);
}

void check_switch(const Fabric& fabric, std::size_t i) {
  const Switch& one = fabric.switches[i];
  need(one.above < static_cast<int>(i) && (i == 0) == (one.above < 0),
       "switch " + one.name + " is not connected to a higher switch");
  need(one.links.count >= 1 && one.links.gb_per_s >= 0 && one.links.latency_ns >= 0 &&
           std::isfinite(one.links.gb_per_s) && std::isfinite(one.links.latency_ns),
       "the links of " + one.name);
  if (i == 0) return;
  need(fabric.switches[static_cast<std::size_t>(one.above)].height > one.height,
       "switch " + one.name + " is not below its upper switch");
}

}  // namespace

void validate(const Fabric& fabric) {
  need(!fabric.switches.empty() && fabric.switches.size() <= most_switches, "no switch");
  need(fabric.nodes() >= 1 && fabric.nodes() <= most_nodes, "no node");
  for (std::size_t i = 0; i < fabric.switches.size(); ++i) check_switch(fabric, i);
  int last = 0;
  for (const int leaf : fabric.switch_of_node) {
    need(leaf >= last && leaf < static_cast<int>(fabric.switches.size()), "nodes out of order");
    need(fabric.switches[static_cast<std::size_t>(leaf)].height == 0, "a node next to switches");
    last = leaf;
  }
}

int levels(const Fabric& fabric) { return fabric.switches.front().height + 1; }

namespace {

std::vector<int> dealt(const Fabric& fabric) {
  std::vector<int> turn(fabric.switch_of_node.size());  // index of each node within its leaf
  for (std::size_t node = 1; node < turn.size(); ++node) {
    const bool same = fabric.switch_of_node[node] == fabric.switch_of_node[node - 1];
    turn[node] = same ? turn[node - 1] + 1 : 0;
  }
  std::vector<int> nodes(turn.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::stable_sort(nodes.begin(), nodes.end(), [&turn](int a, int b) {
    return turn[static_cast<std::size_t>(a)] < turn[static_cast<std::size_t>(b)];
  });
  return nodes;
}

// Uses no standard distribution, because only the engines return the same numbers on all platforms.
std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::mt19937_64 engine(seed);
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[engine() % i]);
  return nodes;
}

}  // namespace

std::vector<int> place(const Fabric& fabric, int ranks, Placement placement, std::uint64_t seed) {
  std::vector<int> nodes;
  switch (placement) {
    case Placement::block:
      nodes.resize(static_cast<std::size_t>(ranks));
      std::iota(nodes.begin(), nodes.end(), 0);
      break;
    case Placement::round_robin:
      nodes = dealt(fabric);
      break;
    case Placement::random:
      nodes = shuffled(fabric.nodes(), seed);
      break;
  }
  nodes.resize(static_cast<std::size_t>(ranks));
  return nodes;
}

namespace {

class Growth {
 public:
  Growth(const std::vector<NamedSwitch>& entries,
         const std::function<void(std::size_t, const std::string&)>& refuse)
      : entries_(entries), refuse_(refuse), parent_(entries.size(), none) {}

  void grow(Fabric& fabric) {
    index_names();
    join_parents();
    const std::size_t top = only_top();
    find_cycles();
    place(top, -1, 0, fabric);
    set_heights(fabric);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void index_names() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const NamedSwitch& entry = entries_[i];
      if (!number_.emplace(entry.name, i).second) {
        refuse_(i, fmt::format("switch {} is defined twice", entry.name));
      }
      if (entry.nodes.empty() == entry.switches.empty()) {
        refuse_(i,
                fmt::format("switch {} must have either nodes or switches below it", entry.name));
      }
      for (const std::string& node : entry.nodes) {
        if (!nodes_.insert(node).second) {
          refuse_(i, fmt::format("node {} is connected to two switches", node));
        }
      }
    }
  }

  void join_parents() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      for (const std::string& below : entries_[i].switches) {
        const auto found = number_.find(below);
        if (found == number_.end()) {
          refuse_(i,
                  fmt::format("switch {} is not defined{}", below, did_you_mean(below, names())));
        }
        std::size_t& parent = parent_[found->second];
        if (parent != none) {
          refuse_(i, fmt::format("switch {0} is below both {1} and {2}: name one switch above it "
                                 "(write switches of a level that are all reachable as one)",
                                 below, entries_[parent].name, entries_[i].name));
        }
        parent = i;
      }
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const NamedSwitch& entry : entries_) all.push_back(entry.name);
    return all;
  }

  // Rejects cycles: walks up from every switch; reaching a switch twice in one walk means a cycle.
  void find_cycles() const {
    std::vector<std::size_t> climbed_from(entries_.size(), none);
    for (std::size_t start = 0; start < entries_.size(); ++start) {
      std::size_t at = start;
      while (at != none && climbed_from[at] == none) {
        climbed_from[at] = start;
        at = parent_[at];
      }
      if (at != none && climbed_from[at] == start) {
        refuse_(at, fmt::format("switch {} is below itself", entries_[at].name));
      }
    }
  }

  std::size_t only_top() const {
    std::size_t top = none;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (parent_[i] != none) continue;
      if (top != none) {
        refuse_(i, fmt::format(
                       "switches {} and {} are not connected: one switch must be above all others",
                       entries_[top].name, entries_[i].name));
      }
      top = i;
    }
    if (top == none) {
      find_cycles();
      refuse_(0, "there is no switch");
    }
    return top;
  }

  void place(std::size_t entry, int above, int depth, Fabric& fabric) {
    if (depth >= most_levels) {
      refuse_(entry, fmt::format("more than {} levels of switches", most_levels));
    }
    const int self = static_cast<int>(fabric.switches.size());
    fabric.switches.push_back(
        {entries_[entry].name, above, 0, Wiring::through, entries_[entry].links});
    fabric.switch_of_node.insert(fabric.switch_of_node.end(), entries_[entry].nodes.size(), self);
    if (fabric.nodes() > most_nodes) refuse_(entry, fmt::format("more than {} nodes", most_nodes));
    for (const std::string& below : entries_[entry].switches) {
      place(number_.at(below), self, depth + 1, fabric);
    }
  }

  static void set_heights(Fabric& fabric) {
    for (std::size_t i = fabric.switches.size(); i-- > 1;) {
      Switch& above = fabric.switches[static_cast<std::size_t>(fabric.switches[i].above)];
      above.height = std::max(above.height, fabric.switches[i].height + 1);
    }
  }

  const std::vector<NamedSwitch>& entries_;
  const std::function<void(std::size_t, const std::string&)>& refuse_;
  std::vector<std::size_t> parent_;
  std::map<std::string, std::size_t> number_;
  std::set<std::string> nodes_;
};

}  // namespace

void grow_tree(const std::vector<NamedSwitch>& entries, Fabric& fabric,
               const std::function<void(std::size_t, const std::string&)>& refuse) {
  Growth(entries, refuse).grow(fabric);
}

}  // namespace huddle::fabric
