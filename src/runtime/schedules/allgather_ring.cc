// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ring: every rank sends to the next what came from the one before, its own blocks first, one
// block a round. So a rank that contributes more than others does not hold them up: while its
// blocks go round, theirs follow. Blocks go in falling order, round the circle of all.
#include <algorithm>

#include "runtime/schedules/allgather.h"

namespace huddle::net {
namespace {

class AllgatherRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return shares().sum(ranks()); }
  BlockSpan own_blocks(int rank) const override { return shares().of(rank); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : blocks() - shares().least(); }
  // Until the first one has all.
  std::int64_t like(std::int64_t number) const override {
    return number < blocks() - shares().most() ? 0 : number;
  }
  std::int64_t peers_like(std::int64_t number) const override { return like(number); }
  RankTraffic traffic(int rank) const override {
    if (ranks() == 1) return {};
    const std::int64_t sends = foreign_to(at_distance(rank, 1));
    const std::int64_t receives = foreign_to(rank);
    return {std::max(sends, receives), sends, receives, sends, receives};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const BlockSpan own = own_blocks(rank);
    if (number == 0) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(own.first, own.count));
    }
    if (ranks() == 1) return;
    const int before = at_distance(rank, -1);
    if (number < foreign_to(rank)) {
      round.receive(before, Buffer::output, sent_by(before, number));
    }
    const int next = at_distance(rank, 1);
    if (number < foreign_to(next)) {
      round.send(next, number < own.count ? Buffer::input : Buffer::output, sent_by(rank, number));
    }
  }

 private:
  const Shares& shares() const { return call().shares; }
  std::int64_t foreign_to(int rank) const { return blocks() - own_blocks(rank).count; }
  // Its last one first; once its own are through, what came from the one before.
  Blocks sent_by(int rank, std::int64_t number) const {
    const BlockSpan own = own_blocks(rank);
    return Blocks::circular(own.first + own.count - 1 - number, 1, blocks());
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_ring(const Call& call) {
  return std::make_unique<AllgatherRing>(call);
}

}  // namespace huddle::net
