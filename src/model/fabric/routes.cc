// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/routes.h"

#include <fmt/format.h>

#include <algorithm>

namespace huddle::fabric {
namespace {

// The lowest common ancestor of switches `a` and `b`, and its children above each of them.
// Requires: a != b.
struct CommonAncestor {
  int ancestor;
  int below_a;
  int below_b;
};

CommonAncestor common_ancestor(const Fabric& fabric, int a, int b) {
  const auto above = [&fabric](int number) {
    return fabric.switches[static_cast<std::size_t>(number)].above;
  };
  // A switch with a higher number is never an ancestor of one with a lower number.
  int below_a = a;
  int below_b = b;
  while (a != b) {
    int& later = a > b ? a : b;
    (a > b ? below_a : below_b) = later;
    later = above(later);
  }
  return {a, below_a, below_b};
}

}  // namespace

Routes::Routes(const Fabric& fabric, const machine::Network& network)
    : fabric_(fabric), places_(fabric.switches.size()), nodes_below_(fabric.switches.size(), 0) {
  count_leaves();
  number_siblings();
  add_nodes(network);
  for (int number = 0; number < static_cast<int>(fabric.switches.size()); ++number) {
    const int above = at_switch(number).above;
    if (above >= 0 && at_switch(above).wiring == Wiring::through) {
      add_up_links(number, network.node_gb_per_s);
    }
    if (at_switch(number).wiring == Wiring::direct) add_direct_links(number);
  }
}

void Routes::count_leaves() {
  for (const int leaf : fabric_.switch_of_node) ++nodes_below_[static_cast<std::size_t>(leaf)];
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].first_leaf = static_cast<int>(leaves_.size());
    if (fabric_.switches[i].height > 0) continue;
    leaves_.push_back(static_cast<int>(i));
    places_[i].leaves = 1;
  }
  for (std::size_t i = places_.size(); i-- > 1;) {
    const auto above = static_cast<std::size_t>(fabric_.switches[i].above);
    places_[above].leaves += places_[i].leaves;
    nodes_below_[above] += nodes_below_[i];
  }
}

void Routes::number_siblings() {
  std::vector<int> children(places_.size(), 0);
  for (std::size_t i = 1; i < places_.size(); ++i) {
    places_[i].position = children[static_cast<std::size_t>(fabric_.switches[i].above)]++;
  }
  for (std::size_t i = 1; i < places_.size(); ++i) {
    places_[i].siblings = children[static_cast<std::size_t>(fabric_.switches[i].above)];
  }
}

// Links of nodes have no latency, because the time of a message within one switch includes it.
void Routes::add_nodes(const machine::Network& network) {
  for (int node = 0; node < fabric_.nodes(); ++node) {
    links_.push_back({network.node_gb_per_s, 0, node, -1, 0, -1});
    links_.push_back({network.node_gb_per_s, 0, -1, node, 0, -1});
  }
}

int Routes::parallel(int number) const {
  return fabric_.routing == Routing::adaptive ? 1 : at_switch(number).links.count;
}

void Routes::add_up_links(int number, double node_gb_per_s) {
  const Links& links = at_switch(number).links;
  const int count = parallel(number);
  // Adaptive routing merges all links into one. A missing bandwidth stands for that of all nodes
  // below.
  double gb_per_s = links.gb_per_s * links.count / count;
  if (links.gb_per_s == 0) {
    gb_per_s = node_gb_per_s * nodes_below_[static_cast<std::size_t>(number)] / count;
  }
  places_[static_cast<std::size_t>(number)].up = static_cast<int>(links_.size());
  const int above = at_switch(number).above;
  const int height = at_switch(number).height;
  for (int i = 0; i < count; ++i) {
    links_.push_back({gb_per_s, links.latency_ns, number, above, i, height});
  }
  for (int i = 0; i < count; ++i) {
    links_.push_back({gb_per_s, links.latency_ns, above, number, i, height});
  }
}

void Routes::add_direct_links(int parent) {
  std::vector<int> children;
  const int switches = static_cast<int>(fabric_.switches.size());
  // Descendants follow their switch in the list.
  for (int i = parent + 1; i < switches && at_switch(i).above >= parent; ++i) {
    if (at_switch(i).above == parent) children.push_back(i);
  }
  places_[static_cast<std::size_t>(parent)].across = static_cast<int>(links_.size());
  for (const int from : children) {
    for (const int to : children) {
      const Links& links = at_switch(from).links;
      for (int i = 0; i < links.count; ++i) {
        links_.push_back({links.gb_per_s, links.latency_ns, from, to, i, at_switch(from).height});
      }
    }
  }
}

// Returns the leaf below `child` to which link `link` of the `count` links to `sibling` is
// attached. Links are distributed cyclically over the leaves.
int Routes::gateway(int child, int sibling, int link, int count) const {
  const int other = place(sibling).position;
  const int number = other < place(child).position ? other : other - 1;
  const int leaf = (number * count + link) % place(child).leaves;
  return leaves_[static_cast<std::size_t>(place(child).first_leaf) +
                 static_cast<std::size_t>(leaf)];
}

void Routes::pass(int link, std::vector<int>& links, double& ns) const {
  links.push_back(link);
  ns += at(link).latency_ns;
}

// Appends the links from the leaf `from` up to, but not including, switch `to` or, if `upwards` is
// false, those of the reverse path. The switches of a directly wired group share the links that
// lead out of it equally.
void Routes::climb(int from, int to, bool upwards, int destination, std::vector<int>& links,
                   double& ns) const {
  const std::size_t start = links.size();
  for (int at = from; at != to; at = at_switch(at).above) {
    if (place(at).up < 0) continue;
    const int count = parallel(at);
    pass(place(at).up + (upwards ? 0 : count) + destination % count, links, ns);
  }
  if (!upwards) std::reverse(links.begin() + static_cast<std::ptrdiff_t>(start), links.end());
}

void Routes::between(int leaf, int other, int destination, std::vector<int>& links,
                     double& ns) const {
  if (leaf == other) return;
  const auto [ancestor, from, to] = common_ancestor(fabric_, leaf, other);
  if (at_switch(ancestor).wiring == Wiring::through) {
    climb(leaf, ancestor, true, destination, links, ns);
    climb(other, ancestor, false, destination, links, ns);
    return;
  }
  const int count = at_switch(from).links.count;
  const int link = destination % count;
  between(leaf, gateway(from, to, link, count), destination, links, ns);
  const int pair = place(from).position * place(from).siblings + place(to).position;
  pass(place(ancestor).across + pair * count + link, links, ns);
  between(gateway(to, from, link, count), other, destination, links, ns);
}

Path Routes::path(int from, int to, std::vector<int>& links) const {
  Path path;
  const int leaf = fabric_.switch_of_node[static_cast<std::size_t>(from)];
  const int other = fabric_.switch_of_node[static_cast<std::size_t>(to)];
  if (leaf != other) path.height = at_switch(common_ancestor(fabric_, leaf, other).ancestor).height;
  pass(2 * from, links, path.latency_ns);
  between(leaf, other, to, links, path.latency_ns);
  pass(2 * to + 1, links, path.latency_ns);
  return path;
}

std::string Routes::name(int link) const {
  const Link& one = at(link);
  if (one.height < 0) {
    return one.to < 0 ? fmt::format("node {} out", one.from) : fmt::format("node {} in", one.to);
  }
  const Switch& from = at_switch(one.from);
  const Switch& to = at_switch(one.to);
  const bool up = from.above == one.to;
  const bool down = to.above == one.from;
  std::string text = up     ? from.name + " up"
                     : down ? to.name + " down"
                            : fmt::format("{} to {}", from.name, to.name);
  const int count = up ? parallel(one.from) : down ? parallel(one.to) : from.links.count;
  if (count > 1) text += fmt::format(", link {}", one.number);
  return text;
}

}  // namespace huddle::fabric
