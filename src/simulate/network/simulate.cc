// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A whole schedule, its rounds one after the other.
#include <deque>

#include "simulate/network/simulation.h"

namespace huddle::sim {
namespace {

// Rounds come again soon or never, and one of 16,384 ranks is a megabyte.
constexpr std::size_t kept_rounds = 32;

class Rounds {
 public:
  Rounds(const Simulation& simulation, const net::Schedule& schedule, double block_bytes)
      : simulation_(simulation), schedule_(schedule), block_bytes_(block_bytes) {}

  const SharedRound& at(std::int64_t number) {
    const std::int64_t like = schedule_.like(number);
    // The first of them is a round apart: in it ranks may also copy what is theirs.
    const bool again = number != like;
    for (const Kept& kept : kept_) {
      if (kept.like == like && kept.again == again) return kept.round;
    }
    if (kept_.size() == kept_rounds) kept_.pop_front();
    kept_.push_back(
        {like, again, simulation_.share_out(traffic_of(schedule_, number, block_bytes_))});
    return kept_.back().round;
  }

 private:
  struct Kept {
    std::int64_t like;
    bool again;
    SharedRound round;
  };

  const Simulation& simulation_;
  const net::Schedule& schedule_;
  double block_bytes_;
  std::deque<Kept> kept_;
};

}  // namespace

Outcome simulate(const fabric::Cluster& cluster, const std::vector<int>& node_of_rank,
                 const net::Schedule& schedule, double block_bytes) {
  Simulation simulation(cluster, node_of_rank);
  Rounds rounds(simulation, schedule, block_bytes);
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) {
    simulation.run(rounds.at(number));
  }
  return simulation.outcome();
}

}  // namespace huddle::sim
