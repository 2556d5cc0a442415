// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>

#include "runtime/schedules/algorithms.h"

namespace huddle::schedules {

namespace {

// Dissemination: in round i a rank notifies the ranks at distances k^i, 2 k^i, ... (k-1) k^i that
// it and all ranks it has been notified of have arrived. With k = 2 that is one rank per round.
class Dissemination : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return 0; }
  std::int64_t rounds() const override {
    std::int64_t rounds = 0;
    for (std::int64_t heard = 1; heard < ranks(); heard *= call().radix) ++rounds;
    return rounds;
  }

  RankTraffic traffic(int) const override {
    std::int64_t messages = 0;
    for (std::int64_t heard = 1; heard < ranks(); heard *= call().radix) messages += peers(heard);
    return {rounds(), messages, messages, 0, 0};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    std::int64_t heard = 1;
    for (std::int64_t i = 0; i < number; ++i) heard *= call().radix;
    for (std::int64_t i = 1; i <= peers(heard); ++i) {
      round.receive(at_distance(rank, -i * heard), Buffer::output, {});
      round.send(at_distance(rank, i * heard), Buffer::output, {});
    }
  }

 private:
  // Returns the number of peers that a rank notifies once it knows of `heard` arrivals.
  std::int64_t peers(std::int64_t heard) const {
    return std::min<std::int64_t>(call().radix - 1, (ranks() - 1) / heard);
  }
};

}  // namespace

std::unique_ptr<Schedule> barrier_dissemination(const Call& call) {
  return std::make_unique<Dissemination>(call);
}

}  // namespace huddle::schedules
