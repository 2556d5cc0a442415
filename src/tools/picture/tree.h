// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine as a tree of boxes and cells, before anybody knows how large they are drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

enum class NodeKind {
  box,      // a level of sharing: has a title and children
  core,     // a cell: the processors of one core
  memory,   // a cell: a memory node that is no core's home
  offline,  // a cell: processors that are switched off
  folded,   // a cell: a box like the one drawn before it, its processors only
};

// Whether we may run there.
enum class Allowance { unknown, none, some, all };

struct Node {
  NodeKind kind = NodeKind::box;
  std::string level;                // of a box: the outermost of those merged in it
  std::vector<std::string> titles;  // "package 0", "L3 32M": levels that hold the same processors
  std::string shape;                // titles without numbers: equal for boxes that are alike
  std::string label;                // of a cell
  machine::CpuSet cpus;
  Allowance allowance = Allowance::unknown;
  int core_kind = -1;        // index in topology.kinds; -1: there is one kind only
  bool lesser_core = false;  // there are faster kinds
  std::vector<Node> children;
};

// Signs before a processor's number, for places without colour. Empty: none.
struct Marks {
  std::string allowed;
  std::string other;
  std::string offline;
};

struct TreeOptions {
  std::optional<machine::CpuSet> allowed;  // nothing: a machine that we are not on
  Marks marks;
  bool core_titles = false;  // cores as boxes with their own caches in the title
};

Node make_tree(const machine::Topology& topology, const TreeOptions& options);

// One letter for each kind of core, in the order of topology.kinds.
std::vector<std::string> kind_letters(const machine::Topology& topology);

// Whether a kind is slower than another one here.
bool is_lesser(const machine::Topology& topology, std::size_t kind);

// "L1 48K, L2 1M": the caches that each core has for itself, for the legend; a line for each kind
// of core that differs, "efficient core: ...".
std::vector<std::string> own_caches(const machine::Topology& topology);

// What the signs and letters in a tree mean, in words that terminal and pictures share.
enum class Sign { allowed, other, offline, core, lesser_core, none };

struct LegendItem {
  Sign sign = Sign::none;
  std::string text;
};

// `caches_are_shown`: the tree names the cores' own caches already.
std::vector<LegendItem> legend_of(const machine::Topology& topology,
                                  const std::optional<machine::CpuSet>& allowed,
                                  bool caches_are_shown);

// The tree as boxes of characters.

// With a legend below. Large machines are folded until they fit a height that people read.
std::string tree_text(const machine::Topology& topology,
                      const std::optional<machine::CpuSet>& allowed, const Style& style);

}  // namespace huddle::picture
