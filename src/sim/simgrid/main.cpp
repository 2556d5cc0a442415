// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle-judge-simgrid: the same schedule on the same links as `huddle sim`, run by SimGrid. It has
// no rounds: every rank is an actor that sends and receives, and links are shared out whenever a
// message begins or ends. Called by `huddle sim --with simgrid`, with words KEY=VALUE (question());
// prints the nanoseconds until the last rank is ready.
//
// Both know the time of a processor, latencies, rates, a message's own limit and who waits for
// whom. The gap between two messages of a card only huddle knows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/fabric_file.h"
#include "fabric/placement.h"
#include "fabric/routes.h"
#include "machine/cost.h"
#include "machine/curve.h"
#include "net/algorithms.h"
#include "sim/question.h"
#include "sim/traffic.h"

namespace {

using namespace huddle;
namespace s4u = simgrid::s4u;

// SimGrid's clock counts seconds and rounds to parts of them; here one of its seconds is 1 us.
constexpr double ns_a_tick = 1000;

struct Job {
  sim::Question question;
  fabric::Cluster cluster;
  std::unique_ptr<net::Schedule> schedule;
  std::vector<int> node_of_rank;
  std::vector<double> end_ns;  // of each rank
};

std::string host_name(int rank) { return fmt::format("r{}", rank); }

// Short messages are taken in whoever waits for them, long ones not before.
s4u::Mailbox* mailbox(int from, int to, bool meets) {
  return s4u::Mailbox::by_name(fmt::format("{}-{}-{}", from, to, meets));
}

bool meets(const machine::Network& network, double bytes) {
  return network.rendezvous_bytes && bytes >= *network.rendezvous_bytes;
}

double own_limit(const machine::Network& network, double bytes) {
  const double ns = time_at(network.curve, bytes) - time_at(network.curve, 0);
  return ns > 0 ? bytes / ns : -1;
}

class Platform {
 public:
  explicit Platform(const Job& job)
      : job_(job),
        routes_(job.cluster.fabric, job.cluster.network),
        zone_(s4u::create_full_zone("cluster")) {}

  void build() {
    const int ranks = static_cast<int>(job_.node_of_rank.size());
    for (int rank = 0; rank < ranks; ++rank) {
      hosts_.push_back(zone_->create_host(host_name(rank), 1e9)->seal());
    }
    std::set<std::pair<int, int>> pairs;
    for (std::int64_t number = 0; number < job_.schedule->rounds(); ++number) {
      if (job_.schedule->like(number) != number) continue;
      for (const auto& sent : sim::traffic_of(*job_.schedule, number, 1).messages) {
        pairs.emplace(sent.from, sent.to);
      }
    }
    for (const auto& [from, to] : pairs) add_route(from, to);
    zone_->seal();
  }

 private:
  s4u::Link* link(int number) {
    const auto found = links_.find(number);
    if (found != links_.end()) return found->second;
    s4u::Link* made =
        zone_->create_link(fmt::format("l{}", number), routes_.gb_per_s(number) * ns_a_tick);
    made->set_latency(routes_.latency_ns(number) / ns_a_tick)->seal();
    return links_[number] = made;
  }

  void add_route(int from, int to) {
    std::vector<int> passed;
    routes_.path(job_.node_of_rank[static_cast<std::size_t>(from)],
                 job_.node_of_rank[static_cast<std::size_t>(to)], passed);
    std::vector<s4u::LinkInRoute> route;
    for (const int number : passed) route.emplace_back(link(number));
    // The latency beneath one switch, which all messages have, is a link that never is full.
    const machine::Network& network = job_.cluster.network;
    if (base_ == nullptr) {
      base_ =
          zone_->create_link("base", 1e30)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
      base_->set_latency((time_at(network.curve, 0) - 2 * network.cpu_ns) / ns_a_tick)->seal();
    }
    route.emplace_back(base_);
    zone_->add_route(hosts_[static_cast<std::size_t>(from)]->get_netpoint(),
                     hosts_[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr, route,
                     false);
  }

  const Job& job_;
  fabric::Routes routes_;
  s4u::NetZone* zone_;
  std::vector<s4u::Host*> hosts_;
  std::map<int, s4u::Link*> links_;
  s4u::Link* base_ = nullptr;
};

// One rank, from its first round to its last.
class Rank {
 public:
  Rank(Job& job, int rank) : job_(job), rank_(rank), cost_(job.cluster.machine) {}

  void operator()() {
    net::Round round;
    const net::RoundSpan span = job_.schedule->active(rank_);
    for (std::int64_t number = span.first; number < span.last; ++number) {
      job_.schedule->make(rank_, number, round);
      run(round);
    }
    job_.end_ns[static_cast<std::size_t>(rank_)] = s4u::Engine::get_clock() * ns_a_tick;
  }

 private:
  double bytes_of(const net::Message& message) const {
    return static_cast<double>(message.part.blocks.count()) * job_.question.block_bytes;
  }
  void busy(double ns) { s4u::this_actor::sleep_for(ns / ns_a_tick); }

  void run(const net::Round& round) {
    const machine::Network& network = job_.cluster.network;
    std::vector<s4u::CommPtr> receives;
    std::vector<s4u::CommPtr> meeting;
    for (const net::Message& message : round.receives) {
      s4u::Mailbox* const box = mailbox(message.peer, rank_, meets(network, bytes_of(message)));
      receives.push_back(box->get_async<char>(&received_));
    }
    for (const net::Message& message : round.sends) {
      busy(network.cpu_ns);
      const double bytes = bytes_of(message);
      const bool waits = meets(network, bytes);
      s4u::Mailbox* const box = mailbox(rank_, message.peer, waits);
      s4u::CommPtr comm = box->put_init(&payload_, static_cast<std::uint64_t>(bytes));
      if (bytes > 0 && own_limit(network, bytes) > 0) {
        comm->set_rate(own_limit(network, bytes) * ns_a_tick);
      }
      if (waits) {
        meeting.push_back(comm->start());
      } else {
        comm->detach();
      }
    }
    while (!receives.empty()) {
      const ssize_t first = s4u::Comm::wait_any(receives);
      receives.erase(receives.begin() + first);
      busy(network.cpu_ns);
    }
    for (const s4u::CommPtr& comm : meeting) comm->wait();
    const double bytes = sim::work_bytes(round, job_.question.block_bytes);
    const int pu = job_.cluster.machine.topology.pus.first();
    if (bytes > 0) busy(cost_.copy_ns({bytes, pu, pu}));
  }

  Job& job_;
  int rank_;
  machine::CostModel cost_;
  char payload_ = 0;
  char* received_ = nullptr;
};

// Eager messages move as soon as they are sent, whether or not the receiver has asked for them.
void let_short_ones_move(const Job& job, const std::vector<s4u::ActorPtr>& actors) {
  for (std::int64_t number = 0; number < job.schedule->rounds(); ++number) {
    if (job.schedule->like(number) != number) continue;
    for (const auto& sent : sim::traffic_of(*job.schedule, number, 1).messages) {
      mailbox(sent.from, sent.to, false)->set_receiver(actors[static_cast<std::size_t>(sent.to)]);
    }
  }
}

double run(Job& job, int* argc, char** argv) {
  s4u::Engine engine(argc, argv);
  for (const char* setting :
       {"network/model:CM02", "network/TCP-gamma:1e30", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0",
        "contexts/stack-size:64"}) {
    s4u::Engine::set_config(setting);
  }
  Platform(job).build();
  std::vector<s4u::ActorPtr> actors;
  for (int rank = 0; rank < job.schedule->ranks(); ++rank) {
    actors.push_back(
        s4u::Actor::create(host_name(rank), engine.host_by_name(host_name(rank)), Rank(job, rank)));
  }
  let_short_ones_move(job, actors);
  engine.run();
  return *std::max_element(job.end_ns.begin(), job.end_ns.end());
}

Job job_of(const sim::Question& question) {
  Job job{question, fabric::load_cluster(question.fabric, question.machine), {}, {}, {}};
  job.schedule = net::make_schedule(net::algorithm_named(question.algorithm), question.call);
  job.node_of_rank =
      fabric::place(job.cluster.fabric, question.call.ranks, question.placement, question.seed);
  job.end_ns.resize(job.node_of_rank.size());
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Job job = job_of(sim::question({argv + 1, argv + argc}));
    // SimGrid reads settings from a command line; of what it logs only errors are of interest.
    std::string log = "--log=root.thres:critical";
    std::vector<char*> own = {argv[0], log.data(), nullptr};
    int count = 2;
    fmt::print("{:.17g}\n", run(job, &count, own.data()));
    return 0;
  } catch (const huddle::Error& error) {
    fmt::print(stderr, "huddle-judge-simgrid: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
