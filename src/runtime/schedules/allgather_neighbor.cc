// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The neighbor exchange of Chen, Zhang, Zhang and Yuan: only neighbours talk, each exchange goes
// both ways, and there are half as many rounds as in a ring. Blocks travel in pairs (0 1), (2 3),
// ...: first the two of a pair exchange theirs, then each exchanges with its one neighbour and its
// other in turns, passing on the pair that came in the round before.
//
// Of an odd number of ranks the last gives its block to the one before it and steps out; it travels
// as a third block of the last pair, and at the end the last rank gets everything.
#include "runtime/schedules/allgather.h"

namespace huddle::net {
namespace {

class NeighborExchange : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : pairs() + (is_odd() ? 2 : 0); }
  // A third block makes a difference wherever it is.
  std::int64_t like(std::int64_t number) const override {
    return is_odd() ? number : peers_like(number);
  }
  std::int64_t peers_like(std::int64_t number) const override {
    if (!is_odd()) return number <= 2 ? number : 2 - number % 2;
    return number <= 2 || number > pairs() ? number : 2 - number % 2;
  }

  RankTraffic traffic(int rank) const override {
    const std::int64_t others = ranks() - 1;
    if (others == 0) return {};
    if (is_odd() && rank == others) return {2, 1, 1, 1, others};
    // A block, then pairs.
    RankTraffic traffic{pairs(), pairs(), pairs(), 2 * pairs() - 1, others};
    if (!is_odd()) return traffic;
    if (sends_last_pair(rank)) ++traffic.blocks_sent;
    if (rank == others - 1) {  // one block more at first, and everything at the end
      traffic.rounds += 2;
      ++traffic.sends;
      ++traffic.receives;
      traffic.blocks_sent += 1 + others;
    }
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    if (ranks() == 1) return;
    const int last = ranks() - 1;
    if (!is_odd()) {
      exchange(rank, number, number == 0 ? Buffer::input : Buffer::output, round);
    } else if (number == 0) {
      if (rank == last) round.send(last - 1, Buffer::input, Blocks::interval(last, 1));
      if (rank == last - 1) round.receive(last, Buffer::output, Blocks::interval(last, 1));
    } else if (number <= pairs()) {
      if (rank != last) exchange(rank, number - 1, Buffer::output, round);
    } else {
      if (rank == last) round.receive(last - 1, Buffer::output, Blocks::interval(0, last));
      if (rank == last - 1) round.send(last, Buffer::output, Blocks::interval(0, last));
    }
  }

 private:
  bool is_odd() const { return ranks() % 2 != 0; }
  std::int64_t pairs() const { return ranks() / 2; }

  // How many pairs to the right of a rank's own the pair that it gets in a round is. Even ranks
  // look to the left first: -1, 1, -2, 2, ...
  static std::int64_t distance(int rank, std::int64_t step) {
    const std::int64_t far = (step + 1) / 2;
    return (rank + step) % 2 == 0 ? far : -far;
  }
  // The pair that a rank gets in a step; in step 0 that is its own.
  std::int64_t pair_at(int rank, std::int64_t step) const {
    return (rank / 2 + distance(rank, step) + pairs()) % pairs();
  }
  Blocks blocks_of(std::int64_t pair) const {
    const bool has_third = is_odd() && pair == pairs() - 1;
    return Blocks::interval(2 * pair, has_third ? 3 : 2);
  }
  // All pairs but the one that comes in the last step are passed on.
  bool sends_last_pair(int rank) const { return pair_at(rank, pairs() - 1) != pairs() - 1; }

  void exchange(int rank, std::int64_t step, Buffer own, Round& round) const {
    const int others = static_cast<int>(2 * pairs());
    const int peer = ((rank + step) % 2 == 0 ? rank + 1 : rank - 1 + others) % others;
    if (step == 0) {
      const auto alone = [this](int owner) {
        const bool with_third = is_odd() && owner == ranks() - 2;
        return Blocks::interval(owner, with_third ? 2 : 1);
      };
      round.receive(peer, Buffer::output, alone(peer));
      round.send(peer, own, alone(rank));
      return;
    }
    round.receive(peer, Buffer::output, blocks_of(pair_at(peer, step - 1)));
    round.send(peer, Buffer::output, blocks_of(pair_at(rank, step - 1)));
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_neighbor(const Call& call) {
  return std::make_unique<NeighborExchange>(call);
}

}  // namespace huddle::net
