// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The links of a fabric as SimGrid's: one host a rank.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/fabric/routes.h"
#include "model/machine/machine.h"
#include "runtime/schedules/schedule.h"
#include "simulate/network/question.h"

namespace huddle::judge {

// What is asked of the judge, with all that the question names, and what of a network's figures
// SimGrid is told.

// SimGrid's clock counts seconds and rounds to parts of them; here one of its seconds is 1 us.
constexpr double ns_a_tick = 1000;

struct Job {
  network::Question question;
  fabric::Cluster cluster;
  std::unique_ptr<schedules::Schedule> schedule;
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

// Who simulates instead of huddle: each says the nanoseconds until the last rank is ready. A
// process asks one of them, once; a simgrid::s4u::Engine has to be there.

// huddle's schedule, every rank an actor that sends and receives. Links are shared out whenever a
// message begins or ends; messages of one card share it evenly, or with `cards_in_order` those of a
// later round wait for those of earlier ones, as in huddle's model.
double schedule_ns(const Job& job, bool cards_in_order);

// SMPI, SimGrid's own MPI, with its own algorithm of that name (network::smpi_algorithm).
double smpi_ns(const Job& job);

}  // namespace huddle::judge
