// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Bruck and others: when a rank has its own block and the d - 1 after it, it gets as many again
// from the rank d further on. With a radix k it gets from k - 1 ranks in one round, at d, 2d, ... .
// The last round moves only what is missing.
#include <algorithm>

#include "runtime/schedules/allgather.h"

namespace huddle::net {
namespace {

class AllgatherBruck : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override {
    std::int64_t rounds = 1;
    for (std::int64_t have = call().radix; have < ranks(); have *= call().radix) ++rounds;
    return rounds;
  }

  RankTraffic traffic(int) const override {
    const std::int64_t others = ranks() - 1;
    if (others == 0) return {};
    std::int64_t messages = 0;
    for (std::int64_t have = 1; have < ranks(); have *= call().radix) {
      messages += peers(have);
    }
    return {rounds(), messages, messages, others, others};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    std::int64_t have = 1;
    for (std::int64_t i = 0; i < number; ++i) have *= call().radix;
    const Buffer from = number == 0 ? Buffer::input : Buffer::output;
    for (std::int64_t i = 1; i <= peers(have); ++i) {
      const std::int64_t distance = i * have;
      const std::int64_t count = std::min(have, ranks() - distance);
      round.receive(at_distance(rank, distance), Buffer::output,
                    Blocks::circular(rank + distance, count, ranks()));
      round.send(at_distance(rank, -distance), from, Blocks::circular(rank, count, ranks()));
    }
  }

 private:
  // Of whom a rank gets in the round before which it has so many blocks.
  std::int64_t peers(std::int64_t have) const {
    return std::min<std::int64_t>(call().radix - 1, (ranks() - 1) / have);
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_bruck(const Call& call) {
  return std::make_unique<AllgatherBruck>(call);
}

}  // namespace huddle::net
