// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Slices: every rank joins one of them (sliced.h) and sends it to all others. Each contribution and
// each result goes straight to where it is wanted.
#include "runtime/schedules/allreduce.h"
#include "runtime/schedules/sliced.h"

namespace huddle::net {
namespace {

class AllreduceSlices : public Schedule {
 public:
  explicit AllreduceSlices(const Call& call) : Schedule(call), slice_(call.ranks) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : 2 * others(); }
  Scratch scratch(int) const override { return slice_.scratch(); }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(2 * others());
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    const bool joins = number < others();
    const std::int64_t distance = 1 + number % others();
    const int after = at_distance(rank, distance);
    const int before = at_distance(rank, -distance);
    if (joins) {
      round.receive(after, slice_.place_of(rank, after), Blocks::interval(rank, 1));
      round.send(before, Buffer::input, Blocks::interval(before, 1));
      slice_.join(rank, after, round);
    } else {
      round.receive(before, Buffer::output, Blocks::interval(before, 1));
      round.send(after, Buffer::output, Blocks::interval(rank, 1));
    }
  }

 private:
  std::int64_t others() const { return ranks() - 1; }

  SliceJoin slice_;
};

}  // namespace

std::unique_ptr<Schedule> allreduce_slices(const Call& call) {
  return std::make_unique<AllreduceSlices>(call);
}

}  // namespace huddle::net
