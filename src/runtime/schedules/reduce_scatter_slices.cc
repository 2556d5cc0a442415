// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every rank joins its own block (sliced.h): each contribution goes straight to where it is wanted.
#include "runtime/schedules/reduce.h"
#include "runtime/schedules/sliced.h"

namespace huddle::net {
namespace {

class ReduceScatterSlices : public Schedule {
 public:
  explicit ReduceScatterSlices(const Call& call) : Schedule(call), slice_(call.ranks) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  Scratch scratch(int) const override { return slice_.scratch(); }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    const int after = at_distance(rank, number + 1);
    const int before = at_distance(rank, -(number + 1));
    round.receive(after, slice_.place_of(rank, after), Blocks::interval(rank, 1));
    round.send(before, Buffer::input, Blocks::interval(before, 1));
    slice_.join(rank, after, round);
  }

 private:
  SliceJoin slice_;
};

}  // namespace

std::unique_ptr<Schedule> reduce_scatter_slices(const Call& call) {
  return std::make_unique<ReduceScatterSlices>(call);
}

}  // namespace huddle::net
