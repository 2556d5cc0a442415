// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where ranks or threads may sit: the processors of one machine, or of several nodes of one kind,
// as a tree of what they share, and how far any two of them are from each other.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/cost.h"

namespace huddle::mapping {

// A processor of a node: one rank or thread sits there.
struct Slot {
  int node = 0;
  int pu = 0;  // the operating system's number

  bool operator==(const Slot&) const = default;
};

// "12", or "1:12" where there are several nodes.
std::string slot_text(const Slot& slot, int nodes);

// An object that slots share: a core, a cache, a package, a node. Leaves are single slots. What
// holds the same slots as an object inside it is left out.
struct Object {
  int first = 0;  // its slots are those from `first` up to, and without, `last`
  int last = 0;
  std::vector<int> children;  // in the order of their slots; empty for a leaf
  int level = 0;              // index in SlotTree::levels(): what two of its children share

  int slots() const { return last - first; }
  bool is_leaf() const { return children.empty(); }
};

struct SlotLevel {
  std::string name;  // a level of the topology, "machine" or "network"
  double ns = 0;     // from one slot to another that share it and nothing nearer
};

struct SlotRequest {
  std::vector<int> pus;  // of each node; not empty
  int nodes = 1;
  double network_ns = 0;  // between two nodes
};

class SlotTree {
 public:
  // Throws InputError where the topology has more levels, or wider ones, than a code of 64 bits
  // tells apart.
  SlotTree(const machine::CostModel& model, const SlotRequest& request);

  int size() const { return static_cast<int>(slots_.size()); }
  int nodes() const { return nodes_; }
  const std::vector<Slot>& slots() const { return slots_; }        // neighbours stand side by side
  const std::vector<Object>& objects() const { return objects_; }  // the root first, children later
  const Object& root() const { return objects_.front(); }
  const std::vector<SlotLevel>& levels() const { return levels_; }  // innermost first
  int slot_of(const Slot& slot) const;                              // -1: none such

  // The index in levels() of what two different slots share.
  int level(int a, int b) const { return level_of_bit_[width(a, b)]; }

  // A cache line's way. For a slot and itself: as to its nearest neighbour, never 0.
  double ns(int a, int b) const {
    if (!measured_ns_.empty() &&
        nodes_of_[static_cast<std::size_t>(a)] == nodes_of_[static_cast<std::size_t>(b)]) {
      const auto row = static_cast<std::size_t>(a % slots_a_node_);
      const auto column = static_cast<std::size_t>(b % slots_a_node_);
      return measured_ns_[row * static_cast<std::size_t>(slots_a_node_) + column];
    }
    return ns_of_bit_[width(a, b)];
  }
  // Whether slots of one object are all alike: not where pairs were measured one by one.
  bool is_regular() const { return measured_ns_.empty(); }
  // Whether two objects are built alike.
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
  // The path from the root to each slot, some bits for each level: the highest bit in which two
  // codes differ tells the level.
  std::vector<std::uint64_t> codes_;
  std::vector<int> level_of_bit_;
  std::vector<double> ns_of_bit_;
  std::vector<int> shapes_;         // by object: equal for those that are built alike
  std::vector<float> measured_ns_;  // between the slots of a node; empty: levels say it all
};

// Which processors of a node take part: a thread of each core as long as these are enough for
// `elements` on all nodes together, else all threads. `wanted` are those that somebody sits on or
// is to sit on: they stand for their cores.
std::vector<int> chosen_pus(const machine::Topology& topology, const machine::CpuSet& allowed,
                            const machine::CpuSet& wanted, int elements, int nodes);

}  // namespace huddle::mapping
