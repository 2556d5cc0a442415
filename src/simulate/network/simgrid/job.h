// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is asked of the judge, with all that the question names, and what of a network's figures
// SimGrid is told.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/machine/curve.h"
#include "runtime/schedules/schedule.h"
#include "simulate/network/question.h"

namespace huddle::judge {

// SimGrid's clock counts seconds and rounds to parts of them; here one of its seconds is 1 us.
constexpr double ns_a_tick = 1000;

struct Job {
  sim::Question question;
  fabric::Cluster cluster;
  std::unique_ptr<net::Schedule> schedule;
  std::vector<int> node_of_rank;

  const machine::Network& network() const { return cluster.network; }
  int ranks() const { return schedule->ranks(); }
};

// Its sender waits for the receiver.
inline bool meets(const machine::Network& network, double bytes) {
  return network.rendezvous_bytes && bytes >= *network.rendezvous_bytes;
}

// How fast one message alone is; without an answer only links set a limit.
inline double own_limit_gb_per_s(const machine::Network& network, double bytes) {
  const double ns = time_at(network.curve, bytes) - time_at(network.curve, 0);
  return ns > 0 ? bytes / ns : std::numeric_limits<double>::infinity();
}

}  // namespace huddle::judge
