// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ring: every rank sends to the next what came from the one before, its own block first.
#include "net/allgather.h"

namespace huddle::net {
namespace {

class Ring : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  std::int64_t like(std::int64_t) const override { return 0; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    if (ranks() == 1) return;
    const auto block_of = [](int owner) { return Blocks::interval(owner, 1); };
    const int before = at_distance(rank, -1);
    round.receive(before, Buffer::output, block_of(at_distance(before, -number)));
    round.send(at_distance(rank, 1), number == 0 ? Buffer::input : Buffer::output,
               block_of(at_distance(rank, -number)));
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_ring(const Call& call) { return std::make_unique<Ring>(call); }

}  // namespace huddle::net
