// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The slots that ranks or threads can use: the hardware threads of one or more identical nodes, as
// a tree of shared objects, with the latency between any two of them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/cost.h"

namespace huddle::mapping {

// A hardware thread of a node, which can run one rank or thread.
struct Slot {
  int node = 0;
  int pu = 0;  // OS index

  bool operator==(const Slot&) const = default;
};

// Returns "12", or "1:12" if there are several nodes.
std::string slot_text(const Slot& slot, int nodes);

// An object that slots share: a core, a cache, a socket, a node. Leaves are single slots. An object
// with the same slots as one of its descendants is left out.
struct Object {
  int first = 0;  // slots first to last - 1
  int last = 0;
  std::vector<int> children;  // in slot order; empty for a leaf
  int level = 0;              // index in SlotTree::levels() of the level that joins its children

  int slots() const { return last - first; }
  bool is_leaf() const { return children.empty(); }
};

struct SlotLevel {
  std::string name;  // a level of the topology, "machine" or "network"
  double ns = 0;     // latency between slots whose innermost shared object has this level
};

struct SlotRequest {
  std::vector<int> pus;  // on each node; not empty
  int nodes = 1;
  double network_ns = 0;  // between two nodes
};

class SlotTree {
 public:
  // Throws InputError if the code of a path through the tree exceeds 64 bits.
  SlotTree(const machine::CostModel& model, const SlotRequest& request);

  int size() const { return static_cast<int>(slots_.size()); }
  int nodes() const { return nodes_; }
  const std::vector<Slot>& slots() const { return slots_; }        // in tree order
  const std::vector<Object>& objects() const { return objects_; }  // parents before children
  const Object& root() const { return objects_.front(); }
  const std::vector<SlotLevel>& levels() const { return levels_; }  // innermost first
  int slot_of(const Slot& slot) const;                              // -1 if there is none

  // Returns the index in levels() of the innermost object that two different slots share.
  int level(int a, int b) const { return level_of_bit_[width(a, b)]; }

  // Returns the latency of a cache line between two slots in ns. For a slot and itself, returns the
  // latency to its nearest neighbour, which is never 0.
  double ns(int a, int b) const {
    if (!measured_ns_.empty() &&
        nodes_of_[static_cast<std::size_t>(a)] == nodes_of_[static_cast<std::size_t>(b)]) {
      const auto row = static_cast<std::size_t>(a % slots_a_node_);
      const auto column = static_cast<std::size_t>(b % slots_a_node_);
      return measured_ns_[row * static_cast<std::size_t>(slots_a_node_) + column];
    }
    return ns_of_bit_[width(a, b)];
  }
  // Returns whether the slots of an object are equivalent. They are not if latencies were measured
  // per pair.
  bool is_regular() const { return measured_ns_.empty(); }
  // Returns whether two objects have the same shape.
  bool alike(int a, int b) const {
    return shapes_[static_cast<std::size_t>(a)] == shapes_[static_cast<std::size_t>(b)];
  }

 private:
  void find_levels(const machine::CostModel& model, double network_ns);
  void find_shapes();
  void measure_pairs(const machine::CostModel& model);
  std::size_t width(int a, int b) const {
    return static_cast<std::size_t>(
        std::bit_width(codes_[static_cast<std::size_t>(a)] ^ codes_[static_cast<std::size_t>(b)]));
  }

  int nodes_;
  int slots_a_node_ = 0;
  std::vector<Slot> slots_;
  std::vector<int> nodes_of_;
  std::vector<Object> objects_;
  std::vector<SlotLevel> levels_;
  // The path from the root to each slot, with some bits per level: the highest bit in which two
  // codes differ determines the level that the slots share.
  std::vector<std::uint64_t> codes_;
  std::vector<int> level_of_bit_;
  std::vector<double> ns_of_bit_;
  std::vector<int> shapes_;  // by object: equal for objects of the same shape
  // between the slots of a node; empty if levels determine the latency
  std::vector<float> measured_ns_;
};

// Returns the hardware threads of a node to use: one per core if these suffice for `elements` on
// all nodes, otherwise all. On a core with hardware threads in `wanted`, which are in use or
// requested, selects those.
std::vector<int> chosen_pus(const machine::Topology& topology, const machine::CpuSet& allowed,
                            const machine::CpuSet& wanted, int elements, int nodes);

}  // namespace huddle::mapping
