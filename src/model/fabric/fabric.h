// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the nodes of a cluster are joined, as data: a tree of switches, and the links between them.
// routes.h says which links a message takes. What a node's own cards do, its machine file says
// ([[network]]): the time of a message beneath one switch is from there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::fabric {

// How what lies directly below a switch is joined.
enum class Wiring {
  through,  // each has links up to the switch, which joins any two of them
  direct,   // each has links to each other: there is no switch, only the name of the group
};

// Which of several parallel links a message takes.
enum class Routing {
  adaptive,        // all of them are as good as one of their width
  by_destination,  // always the same one for a destination, as InfiniBand's tables have it
};

// Parallel links to the switch above, or, where that is wired directly, to each sibling.
struct Links {
  int count = 1;
  double gb_per_s = 0;    // each, in each direction
  double latency_ns = 0;  // of one link and the switch at its end
  machine::Origin origin = machine::Origin::estimated;

  bool operator==(const Links&) const = default;
};

struct Switch {
  std::string name;
  int above = -1;  // the switch that this one hangs from; -1: the topmost
  int height = 0;  // 0: nodes are below it; else one more than the highest of those below
  Wiring wiring = Wiring::through;
  Links links = {};  // towards the outside; of the topmost without meaning

  bool operator==(const Switch&) const = default;
};

struct Fabric {
  std::string name;
  std::string method;                // how the figures came about, in a sentence
  std::vector<std::string> sources;  // papers and data sheets
  std::string machine_file;          // of its nodes, as the fabric file names it; "": not said
  std::string network;               // which of that machine's networks; "": its only one
  Routing routing = Routing::adaptive;
  // Every switch behind the one that it hangs from.
  std::vector<Switch> switches;
  std::vector<int> switch_of_node;  // rising
  std::vector<std::string> doubts;  // what the file does not say, and what was taken for it

  int nodes() const { return static_cast<int>(switch_of_node.size()); }

  bool operator==(const Fabric&) const = default;
};

// The bounds within which a fabric is taken for one.
inline constexpr int most_nodes = 1 << 20;
inline constexpr int most_switches = 1 << 18;
inline constexpr int most_levels = 16;

// Throws FailureError where anything above does not hold: what readers hand out passes.
void validate(const Fabric& fabric);

// How many switches there are at most between a node and the topmost one, that one counted.
int levels(const Fabric& fabric);

// Which node each rank gets, one rank a node.
enum class Placement {
  block,        // node after node
  round_robin,  // the leaf switches in turn
  random,       // any node, by a seed
};
inline constexpr std::array<std::string_view, 3> placement_names = {"block", "round-robin",
                                                                    "random"};

// The node of each rank. pre: ranks <= fabric.nodes(). Nothing but `random` uses the seed, and that
// answers the same everywhere.
std::vector<int> place(const Fabric& fabric, int ranks, Placement placement, std::uint64_t seed);

// From switches that name what is below them, in any order, to the tree of a fabric. Both forms of
// file that name switches (a fabric file, Slurm's topology.conf) come through here.
struct NamedSwitch {
  std::string name;
  std::vector<std::string> nodes;     // of a leaf: names of nodes
  std::vector<std::string> switches;  // of any other: names of switches
  Links links = {};
};

// Sets `switches` and `switch_of_node`; nodes are numbered as they come. `refuse(i, message)` has
// to throw: entry i cannot be.
void grow_tree(const std::vector<NamedSwitch>& entries, Fabric& fabric,
               const std::function<void(std::size_t, const std::string&)>& refuse);

}  // namespace huddle::fabric
