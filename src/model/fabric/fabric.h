// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The network of a cluster as data: a tree of switches and the links between them. routes.h
// determines the links that a message passes. The properties of a node's NICs, including the time
// of a message between two nodes of one switch, are in the node's machine file ([[network]]).
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

// Specifies how the children of a switch are connected.
enum class Wiring {
  through,  // each child has links to the switch
  direct,   // each child has links to all its siblings; the switch is only a name for the group
};

// Specifies how messages are distributed over parallel links.
enum class Routing {
  adaptive,        // parallel links act as one link of their total bandwidth
  by_destination,  // one link per destination, as in InfiniBand's forwarding tables
};

// Parallel links to the parent or, if the parent's wiring is direct, to each sibling.
struct Links {
  int count = 1;
  double gb_per_s = 0;    // per link and direction
  double latency_ns = 0;  // of one link and the switch at its end
  machine::Origin origin = machine::Origin::estimated;

  bool operator==(const Links&) const = default;
};

struct Switch {
  std::string name;
  int above = -1;  // the parent; -1 for the root
  int height = 0;  // 0 for a leaf, which has nodes; else one more than the highest child
  Wiring wiring = Wiring::through;
  Links links = {};  // to the parent or the siblings; unused for the root

  bool operator==(const Switch&) const = default;
};

struct Fabric {
  std::string name;
  std::string method;                // how the figures were obtained, in a sentence
  std::vector<std::string> sources;  // papers and data sheets
  std::string machine_file;          // of its nodes, as named in the fabric file; "" if not given
  std::string network;               // one of that machine's networks; "" if there is only one
  Routing routing = Routing::adaptive;
  // Parents precede their children.
  std::vector<Switch> switches;
  std::vector<int> switch_of_node;  // ascending
  std::vector<std::string> doubts;  // facts missing from the file, and the assumptions made instead

  int nodes() const { return static_cast<int>(switch_of_node.size()); }

  bool operator==(const Fabric&) const = default;
};

// Limits of a valid fabric.
inline constexpr int most_nodes = 1 << 20;
inline constexpr int most_switches = 1 << 18;
inline constexpr int most_levels = 16;

// Throws FailureError if the fabric exceeds a limit or is inconsistent. The functions that read
// files return valid fabrics.
void validate(const Fabric& fabric);

// Returns the maximum number of switches between a node and the root, including the root.
int levels(const Fabric& fabric);

// Specifies how ranks are assigned to nodes, one rank per node.
enum class Placement {
  block,        // in node order
  round_robin,  // cyclically over the leaf switches
  random,       // pseudo-random, from a seed
};
inline constexpr std::array<std::string_view, 3> placement_names = {"block", "round-robin",
                                                                    "random"};

// Returns the node of each rank. Only `random` uses the seed; its result is the same on all
// platforms. Requires: ranks <= fabric.nodes().
std::vector<int> place(const Fabric& fabric, int ranks, Placement placement, std::uint64_t seed);

// A switch that names its children, as in fabric files and Slurm's topology.conf.
struct NamedSwitch {
  std::string name;
  std::vector<std::string> nodes;     // children of a leaf
  std::vector<std::string> switches;  // children of any other switch
  Links links = {};
};

// Builds the tree of `fabric` (`switches` and `switch_of_node`) from entries in any order; nodes
// are numbered in the order of the entries. Calls `refuse(i, message)`, which must throw, if entry
// i is invalid.
void grow_tree(const std::vector<NamedSwitch>& entries, Fabric& fabric,
               const std::function<void(std::size_t, const std::string&)>& refuse);

}  // namespace huddle::fabric
