// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "simulate/network/simgrid/platform.h"
#include "simulate/network/simulation.h"

namespace huddle::judge {

namespace s4u = simgrid::s4u;

Platform::Platform(const Job& job, const Pairs& pairs)
    : job_(job),
      routes_(job.cluster.fabric, job.cluster.network),
      zone_(s4u::create_full_zone("cluster")) {
  for (int rank = 0; rank < job.ranks(); ++rank) {
    hosts_.push_back(zone_->create_host(fmt::format("r{}", rank), 1e9)->seal());
  }
  // A link of unlimited capacity represents the latency within a leaf switch, which every message
  // has.
  base_ = zone_->create_link("base", 1e30)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  const double ns = time_at(job.network().curve, 0) - 2 * job.network().cpu_ns;
  base_->set_latency(ns / ns_a_tick)->seal();
  for (const auto& [from, to] : pairs) add_route(from, to);
  zone_->seal();
}

s4u::Link* Platform::link(int number) {
  const auto found = links_.find(number);
  if (found != links_.end()) return found->second;
  s4u::Link* const made =
      zone_->create_link(fmt::format("l{}", number), routes_.gb_per_s(number) * ns_a_tick);
  made->set_latency(routes_.latency_ns(number) / ns_a_tick)->seal();
  return links_[number] = made;
}

void Platform::add_route(int from, int to) {
  std::vector<int> passed;
  routes_.path(job_.node_of_rank[static_cast<std::size_t>(from)],
               job_.node_of_rank[static_cast<std::size_t>(to)], passed);
  std::vector<s4u::LinkInRoute> route;
  for (const int number : passed) route.emplace_back(link(number));
  route.emplace_back(base_);
  zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, route,
                   false);
}

namespace {

namespace s4u = simgrid::s4u;

// Eager and rendezvous messages use separate mailboxes: only eager ones are delivered before the
// receive is posted.
s4u::Mailbox* mailbox(int from, int to, bool meets) {
  return s4u::Mailbox::by_name(fmt::format("{}-{}-{}", from, to, meets));
}

// A node's NIC. It starts the messages of a round after all messages of earlier rounds have
// arrived.
class Card {
 public:
  void post(std::int64_t round, const s4u::CommPtr& message) {
    posted_.push_back({round, message});
    waiting_->release();
  }

  // Runs as an actor of its own and never returns.
  void run() {
    std::vector<s4u::CommPtr> on_their_way;
    std::int64_t round = 0;
    while (true) {
      waiting_->acquire();
      const Posted next = posted_.front();
      posted_.pop_front();
      if (next.round != round) {
        for (const s4u::CommPtr& message : on_their_way) message->wait();
        on_their_way.clear();
        round = next.round;
      }
      on_their_way.push_back(next.message->start());
    }
  }

 private:
  struct Posted {
    std::int64_t round;
    s4u::CommPtr message;
  };
  std::deque<Posted> posted_;
  s4u::SemaphorePtr waiting_ = s4u::Semaphore::create(0);
};

// State that all ranks share.
struct Run {
  const Job& job;
  bool cards_in_order;
  s4u::BarrierPtr all_ready;
  double end_ns = 0;  // when the last rank has finished
};

// One rank, which executes its rounds as an actor.
class Rank {
 public:
  Rank(Run& common, int rank) : common_(common), rank_(rank), cost_(common.job.cluster.machine) {}

  void operator()() {
    if (common_.cards_in_order) {
      s4u::Actor::create("card", s4u::this_actor::get_host(), [this] { card_.run(); })->daemonize();
    }
    schedules::Round round;
    const schedules::RoundSpan span = job().schedule->active(rank_);
    for (std::int64_t number = span.first; number < span.last; ++number) {
      job().schedule->make(rank_, number, round);
      run(round, number);
    }
    common_.end_ns = std::max(common_.end_ns, s4u::Engine::get_clock() * ns_a_tick);
    // Waits for all ranks, because messages are lost if their sender ends before they arrive.
    common_.all_ready->wait();
  }

 private:
  const Job& job() const { return common_.job; }
  double bytes_of(const schedules::Message& message) const {
    return static_cast<double>(message.part.blocks.count()) * job().question.block_bytes;
  }
  static void busy(double ns) { s4u::this_actor::sleep_for(ns / ns_a_tick); }

  std::vector<s4u::CommPtr> receive(const schedules::Round& round) {
    std::vector<s4u::CommPtr> receives;
    for (const schedules::Message& message : round.receives) {
      const bool waits = meets(job().network(), bytes_of(message));
      receives.push_back(mailbox(message.peer, rank_, waits)->get_async<char>(&received_));
    }
    return receives;
  }

  // Returns the rendezvous messages, which the rank has to wait for.
  std::vector<s4u::CommPtr> send(const schedules::Round& round, std::int64_t number) {
    std::vector<s4u::CommPtr> meeting;
    for (const schedules::Message& message : round.sends) {
      busy(job().network().cpu_ns);
      const double bytes = bytes_of(message);
      const bool waits = meets(job().network(), bytes);
      const s4u::CommPtr comm = mailbox(rank_, message.peer, waits)
                                    ->put_init(&payload_, static_cast<std::uint64_t>(bytes));
      const double limit = own_limit_gb_per_s(job().network(), bytes);
      if (bytes > 0 && std::isfinite(limit)) comm->set_rate(limit * ns_a_tick);
      if (waits) {
        meeting.push_back(comm->start());
      } else if (common_.cards_in_order) {
        card_.post(number, comm);
      } else {
        comm->detach();
      }
    }
    return meeting;
  }

  void run(const schedules::Round& round, std::int64_t number) {
    std::vector<s4u::CommPtr> receives = receive(round);
    const std::vector<s4u::CommPtr> meeting = send(round, number);
    while (!receives.empty()) {
      const ssize_t first = s4u::Comm::wait_any(receives);
      receives.erase(receives.begin() + first);
      busy(job().network().cpu_ns);
    }
    for (const s4u::CommPtr& comm : meeting) comm->wait();
    const double bytes = network::work_bytes(round, job().question.block_bytes);
    const int pu = job().cluster.machine.topology.pus.first();
    if (bytes > 0) busy(cost_.copy_ns({bytes, pu, pu}));
  }

  Run& common_;
  int rank_;
  machine::CostModel cost_;
  Card card_;
  char payload_ = 0;
  char* received_ = nullptr;
};

Pairs talking(const schedules::Schedule& schedule) {
  Pairs pairs;
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
    if (schedule.like(number) != number) continue;
    for (const auto& sent : network::traffic_of(schedule, number, 1).messages) {
      pairs.emplace(sent.from, sent.to);
    }
  }
  return pairs;
}

}  // namespace

double schedule_ns(const Job& job, bool cards_in_order) {
  for (const char* setting :
       {"network/model:CM02", "network/TCP-gamma:1e30", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "network/crosstraffic:0",
        "contexts/stack-size:64"}) {
    s4u::Engine::set_config(setting);
  }
  const Pairs pairs = talking(*job.schedule);
  const Platform platform(job, pairs);
  Run run{job, cards_in_order, s4u::Barrier::create(static_cast<unsigned>(job.ranks()))};
  std::vector<Rank> ranks;
  ranks.reserve(static_cast<std::size_t>(job.ranks()));
  for (int rank = 0; rank < job.ranks(); ++rank) ranks.emplace_back(run, rank);
  std::vector<s4u::ActorPtr> actors;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    actors.push_back(s4u::Actor::create("rank", platform.host(rank),
                                        std::ref(ranks[static_cast<std::size_t>(rank)])));
  }
  // Eager messages are transferred as soon as they are sent, whether or not the receive is posted.
  for (const auto& [from, to] : pairs) {
    mailbox(from, to, false)->set_receiver(actors[static_cast<std::size_t>(to)]);
  }
  s4u::Engine::get_instance()->run();
  return run.end_ns;
}

}  // namespace huddle::judge
