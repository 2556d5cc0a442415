// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Routes of messages through a fabric. Links are unidirectional. Each node has one outgoing and one
// incoming link, each with the total bandwidth of the node's NICs.
#pragma once

#include <string>
#include <vector>

#include "model/fabric/fabric.h"
#include "model/machine/machine.h"

namespace huddle::fabric {

struct Path {
  int height = 0;         // of the lowest common switch
  double latency_ns = 0;  // in addition to that of a message within one switch
};

class Routes {
 public:
  Routes(const Fabric& fabric, const machine::Network& network);

  // Returns the shortest path and appends its links, in order, to `links`.
  // Requires: from != to.
  Path path(int from, int to, std::vector<int>& links) const;

  int links() const { return static_cast<int>(links_.size()); }
  double gb_per_s(int link) const { return at(link).gb_per_s; }
  double latency_ns(int link) const { return at(link).latency_ns; }
  // Returns a name such as "node 3 out", "leaf 2 up, link 5" or "group 0 to group 4, link 1".
  std::string name(int link) const;

 private:
  struct Link {
    double gb_per_s = 0;
    double latency_ns = 0;
    int from = 0;  // a switch, or a node for the links of nodes
    int to = 0;    // likewise
    int number = 0;
    int height = -1;  // of the switch that owns the link; -1 for the links of nodes
  };
  // The position of a switch in the tree, and the numbers of its links.
  struct Place {
    int position = 0;    // among its siblings
    int siblings = 0;    // including itself
    int first_leaf = 0;  // index into leaves_
    int leaves = 0;
    int up = -1;      // its first link upwards; its links downwards follow
    int across = -1;  // if directly wired: the first link between its children
  };

  const Link& at(int link) const { return links_[static_cast<std::size_t>(link)]; }
  const Switch& at_switch(int number) const {
    return fabric_.switches[static_cast<std::size_t>(number)];
  }
  const Place& place(int number) const { return places_[static_cast<std::size_t>(number)]; }

  void count_leaves();
  void number_siblings();
  void add_nodes(const machine::Network& network);
  void add_up_links(int number, double node_gb_per_s);
  void add_direct_links(int parent);
  int parallel(int number) const;  // number of links among which routing chooses
  int gateway(int child, int sibling, int link, int count) const;
  void between(int leaf, int other, int destination, std::vector<int>& links, double& ns) const;
  void climb(int from, int to, bool upwards, int destination, std::vector<int>& links,
             double& ns) const;
  void pass(int link, std::vector<int>& links, double& ns) const;

  const Fabric& fabric_;
  std::vector<Link> links_;
  std::vector<Place> places_;
  std::vector<int> leaves_;
  std::vector<int> nodes_below_;
};

}  // namespace huddle::fabric
