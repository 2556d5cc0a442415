// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A chain, pipelined: each rank passes a segment on while the next one comes in.
#include <algorithm>

#include "runtime/schedules/bcast.h"

namespace huddle::net {
namespace {

class Chain : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return call().segments; }
  std::int64_t rounds() const override { return ranks() == 1 ? 0 : links() + blocks() - 1; }
  RoundSpan active(int rank) const override {
    const std::int64_t at = from_root(rank);
    if (ranks() == 1) return {0, 0};
    return {std::max<std::int64_t>(at - 1, 0), std::min(at + blocks(), rounds())};
  }
  // Once all links are at work they stay so until the root has sent its last segment.
  std::int64_t like(std::int64_t number) const override {
    return number < blocks() ? std::min(number, links() - 1) : number;
  }

  RankTraffic traffic(int rank) const override {
    const std::int64_t at = from_root(rank);
    if (ranks() == 1) return {};
    const std::int64_t received = at == 0 ? 0 : blocks();
    const std::int64_t sent = at == links() ? 0 : blocks();
    return {blocks() + (received > 0 && sent > 0 ? 1 : 0), sent, received, sent, received};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t at = from_root(rank);
    const std::int64_t coming = number - (at - 1);
    const std::int64_t going = number - at;
    if (at > 0 && has(coming)) {
      round.receive(at_distance(rank, -1), Buffer::output, Blocks::interval(coming, 1));
    }
    if (at < links() && has(going)) {
      round.send(at_distance(rank, 1), Buffer::output, Blocks::interval(going, 1));
    }
  }

 private:
  std::int64_t links() const { return ranks() - 1; }
  std::int64_t from_root(int rank) const { return at_distance(rank, -root()); }
  bool has(std::int64_t segment) const { return segment >= 0 && segment < blocks(); }
};

}  // namespace

std::unique_ptr<Schedule> bcast_chain(const Call& call) { return std::make_unique<Chain>(call); }

}  // namespace huddle::net
