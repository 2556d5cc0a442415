// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine as a tree of boxes and cells, independent of their size in a drawing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

enum class NodeKind {
  box,      // a level of sharing: has a title and children
  core,     // a cell: the hardware threads of one core
  memory,   // a cell: a memory-only NUMA node
  offline,  // a cell: hardware threads that are offline
  folded,   // a cell: the hardware threads of a box like the one drawn before it
};

// States whether this process may run on the hardware threads.
enum class Allowance { unknown, none, some, all };

struct Node {
  NodeKind kind = NodeKind::box;
  std::string level;                // of a box: the outermost of its merged levels
  std::vector<std::string> titles;  // "package 0", "L3 32M": levels with the same hardware threads
  std::string shape;                // titles without numbers: equal for similar boxes
  std::string label;                // of a cell
  machine::CpuSet cpus;
  Allowance allowance = Allowance::unknown;
  int core_kind = -1;        // index in topology.kinds; -1: there is only one kind
  bool lesser_core = false;  // there are faster kinds
  std::vector<Node> children;
};

// Marks before the numbers of hardware threads, for output without colour; empty for no mark.
struct Marks {
  std::string allowed;
  std::string other;
  std::string offline;
};

struct TreeOptions {
  std::optional<machine::CpuSet> allowed;  // empty if the machine is not this one
  Marks marks;
  bool core_titles = false;  // cores as boxes with their own caches in the title
};

Node make_tree(const machine::Topology& topology, const TreeOptions& options);

// Returns one letter for each kind of core, in the order of topology.kinds.
std::vector<std::string> kind_letters(const machine::Topology& topology);

// Returns whether another kind of this machine is faster.
bool is_lesser(const machine::Topology& topology, std::size_t kind);

// Returns the private caches of cores for the legend, for example "L1 48K, L2 1M". Kinds of cores
// that differ have one line each, such as "efficient core: ...".
std::vector<std::string> own_caches(const machine::Topology& topology);

// The meaning of marks and letters in a tree, for terminals and pictures.
enum class Sign { allowed, other, offline, core, lesser_core, none };

struct LegendItem {
  Sign sign = Sign::none;
  std::string text;
};

// `caches_are_shown`: the tree already names the cores' private caches.
std::vector<LegendItem> legend_of(const machine::Topology& topology,
                                  const std::optional<machine::CpuSet>& allowed,
                                  bool caches_are_shown);

// Returns the tree as boxes of characters with a legend. Folds large machines.
std::string tree_text(const machine::Topology& topology,
                      const std::optional<machine::CpuSet>& allowed, const Style& style);

}  // namespace huddle::picture
