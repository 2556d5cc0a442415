// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/fabric.h"

#include <fmt/format.h>

#include <cmath>

#include "common/error.h"

namespace huddle::fabric {
namespace {

void need(bool holds, const std::string& what) {
  if (!holds) throw FailureError("a fabric that cannot be: " + what);
}

void check_switch(const Fabric& fabric, std::size_t i) {
  const Switch& one = fabric.switches[i];
  need(one.above < static_cast<int>(i) && (i == 0) == (one.above < 0),
       "switch " + one.name + " hangs from nowhere");
  need(one.links.count >= 1 && one.links.gb_per_s >= 0 && one.links.latency_ns >= 0 &&
           std::isfinite(one.links.gb_per_s) && std::isfinite(one.links.latency_ns),
       "the links of " + one.name);
  if (i == 0) return;
  need(fabric.switches[static_cast<std::size_t>(one.above)].height > one.height,
       "switch " + one.name + " is as high as the one above");
}

}  // namespace

void validate(const Fabric& fabric) {
  need(!fabric.switches.empty() && fabric.switches.size() <= most_switches, "no switch");
  need(fabric.nodes() >= 1 && fabric.nodes() <= most_nodes, "no node");
  for (std::size_t i = 0; i < fabric.switches.size(); ++i) check_switch(fabric, i);
  int last = 0;
  for (const int leaf : fabric.switch_of_node) {
    need(leaf >= last && leaf < static_cast<int>(fabric.switches.size()), "nodes out of order");
    need(fabric.switches[static_cast<std::size_t>(leaf)].height == 0, "a node beside switches");
    last = leaf;
  }
}

int levels(const Fabric& fabric) { return fabric.switches.front().height + 1; }

}  // namespace huddle::fabric
