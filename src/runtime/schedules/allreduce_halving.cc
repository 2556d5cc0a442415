// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Recursive halving and doubling, for large data: in round k seats that differ in bit k halve what
// both work on, each sends the other's half and joins its own; then they gather the joined parts
// the same way back. Since the nearest come first, brackets are those of recursive doubling.
#include "runtime/schedules/allreduce.h"
#include "runtime/schedules/folded.h"

namespace huddle::net {
namespace {

class AllreduceHalving : public FoldedAllreduce {
 public:
  using FoldedAllreduce::FoldedAllreduce;

  std::int64_t blocks() const override { return folding().seats(); }

 protected:
  std::int64_t seat_rounds() const override { return 2 * folding().doublings(); }
  std::int64_t seat_scratch() const override { return folding().seats() / 2; }
  RankTraffic seat_traffic(int) const override {
    const std::int64_t moved = 2 * (blocks() - 1);
    return {seat_rounds(), seat_rounds(), seat_rounds(), moved, moved};
  }

  void fill_seat(int seat, std::int64_t number, Buffer own, Round& round) const override {
    const int doublings = folding().doublings();
    const bool halves = number < doublings;
    const int bit = static_cast<int>(halves ? number : 2 * doublings - 1 - number);
    const int other = seat ^ (1 << bit);
    const int peer = folding().rank_at(other);
    const Blocks mine = part_of(seat, bit + 1);
    const Blocks others = part_of(other, bit + 1);
    if (!halves) {
      round.receive(peer, Buffer::output, others);
      round.send(peer, Buffer::output, mine);
      return;
    }
    round.receive(peer, net::scratch(0), mine);
    round.send(peer, own, others);
    if (other < seat) {
      round.join(net::scratch(0), own, Buffer::output, mine);
    } else {
      round.join(own, net::scratch(0), Buffer::output, mine);
    }
  }

 private:
  // What a seat works on after it has halved so many times: by its lowest bit first.
  Blocks part_of(int seat, int times) const {
    std::int64_t first = 0;
    std::int64_t size = blocks();
    for (int bit = 0; bit < times; ++bit) {
      size /= 2;
      if ((seat >> bit & 1) != 0) first += size;
    }
    return Blocks::interval(first, size);
  }
};

}  // namespace

std::unique_ptr<Schedule> allreduce_halving(const Call& call) {
  return std::make_unique<AllreduceHalving>(call);
}

}  // namespace huddle::net
