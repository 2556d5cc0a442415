// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The links of a fabric as SimGrid's: one host a rank.
#pragma once

#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "model/fabric/routes.h"
#include "simulate/network/simgrid/job.h"

namespace huddle::judge {

using Pairs = std::set<std::pair<int, int>>;

class Platform {
 public:
  // Ways only between ranks that talk. Everything named has to outlive it.
  Platform(const Job& job, const Pairs& pairs);

  simgrid::s4u::Host* host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

 private:
  simgrid::s4u::Link* link(int number);
  void add_route(int from, int to);

  const Job& job_;
  fabric::Routes routes_;
  simgrid::s4u::NetZone* zone_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::map<int, simgrid::s4u::Link*> links_;
  simgrid::s4u::Link* base_ = nullptr;  // what is beneath every switch
};

}  // namespace huddle::judge
