// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

// The ring: every rank sends to the next what came from the one before, its own blocks first, one
// block a round. So a rank that contributes more than others does not hold them up: while its
// blocks go round, theirs follow. Blocks go in falling order, round the circle of all.
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

// The neighbor exchange of Chen, Zhang, Zhang and Yuan: only neighbours talk, each exchange goes
// both ways, and there are half as many rounds as in a ring. Blocks travel in pairs (0 1), (2 3),
// ...: first the two of a pair exchange theirs, then each exchanges with its one neighbour and its
// other in turns, passing on the pair that came in the round before.
//
// Of an odd number of ranks the last gives its block to the one before it and steps out; it travels
// as a third block of the last pair, and at the end the last rank gets everything.
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

// Recursive doubling: in round k a rank exchanges everything that it has with the rank whose seat
// differs in bit k. Where ranks are folded, the second of a pair gives its block away first, and
// gets all others at the end.
namespace {

class AllgatherDoubling : public Schedule {
 public:
  explicit AllgatherDoubling(const Call& call) : Schedule(call), folding_(call.ranks) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override {
    return ranks() == 1 ? 1 : folding_.doublings() + (folding_.pairs() > 0 ? 2 : 0);
  }

  RankTraffic traffic(int rank) const override {
    const std::int64_t others = ranks() - 1;
    if (folding_.is_out(rank)) return {2, 1, 1, 1, others};
    const int messages = folding_.doublings() + (folding_.is_paired(rank) ? 1 : 0);
    RankTraffic traffic{messages, messages, messages, 0, others};
    for (int bit = 0; bit < folding_.doublings(); ++bit) {
      traffic.blocks_sent += held(folding_.seat_of(rank), bit).count();
    }
    if (folding_.is_paired(rank)) {
      ++traffic.rounds;
      traffic.blocks_sent += others;
    }
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    const bool folds = folding_.pairs() > 0;
    if (folds && number == 0) {
      give_away(rank, round);
    } else if (folds && number == rounds() - 1) {
      give_back(rank, round);
    } else if (ranks() > 1 && !folding_.is_out(rank)) {
      const int bit = static_cast<int>(number) - (folds ? 1 : 0);
      const int seat = folding_.seat_of(rank);
      const int other = seat ^ (1 << bit);
      const int peer = folding_.rank_at(other);
      round.receive(peer, Buffer::output, held(other, bit));
      round.send(peer, number == 0 ? Buffer::input : Buffer::output, held(seat, bit));
    }
  }

 private:
  // What a seat has before it exchanges with that which differs in this bit.
  Blocks held(int seat, int bit) const {
    const int first = seat >> bit << bit;
    const int begin = folding_.rank_at(first);
    return Blocks::interval(begin, folding_.rank_at(first + (1 << bit)) - begin);
  }

  void give_away(int rank, Round& round) const {
    if (!folding_.is_paired(rank)) return;
    if (folding_.is_out(rank)) {
      round.send(rank - 1, Buffer::input, Blocks::interval(rank, 1));
    } else {
      round.receive(rank + 1, Buffer::output, Blocks::interval(rank + 1, 1));
    }
  }

  void give_back(int rank, Round& round) const {
    if (!folding_.is_paired(rank)) return;
    const auto all_but_own = [this](int out) {
      return Blocks::circular(out + 1, ranks() - 1, ranks());
    };
    if (folding_.is_out(rank)) {
      round.receive(rank - 1, Buffer::output, all_but_own(rank));
    } else {
      round.send(rank + 1, Buffer::output, all_but_own(rank + 1));
    }
  }

  Folding folding_;
};

}  // namespace

std::unique_ptr<Schedule> allgather_doubling(const Call& call) {
  return std::make_unique<AllgatherDoubling>(call);
}

// Bruck and others: when a rank has its own block and the d - 1 after it, it gets as many again
// from the rank d further on. With a radix k it gets from k - 1 ranks in one round, at d, 2d, ... .
// The last round moves only what is missing.
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

// Far ones first: each block goes down a binomial tree of its own, whose longest edge, about half
// round the circle, comes first, when a message has one block; the short edges come last, when
// messages are large. That is sparbit (Loch and Koslovski). A block that is `o` ranks from where it
// came got there from the rank at o less its lowest bit.
//
// With so many blocks to a message as may be, and no more, the first rounds are the same. What is
// left is done depth first, as in PAT (NCCL): round t brings the blocks at t, and those a unit
// apart from them, from the ranks at t less its lowest bit. What has come is passed on within few
// rounds, so that little is on its way at any time.
namespace {

class FarFirst : public Schedule {
 public:
  FarFirst(const Call& call, std::int64_t message_blocks) : Schedule(call) {
    const int levels = bits(call.ranks - 1);
    halvings_ = std::min(bits(message_blocks) - 1, levels);
    unit_ = std::int64_t{1} << (levels - halvings_);
    whole_ = std::int64_t{1} << levels;
  }

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override {
    return ranks() == 1 ? 1 : halvings_ + std::min<std::int64_t>(unit_, ranks()) - 1;
  }

  std::int64_t like(std::int64_t number) const override {
    if (number < halvings_ || ranks() == 1) return number;
    // Those up to `full` have a block in every unit, the others in all but the last.
    const std::int64_t full = (ranks() - 1) % unit_;
    const std::int64_t at = number - halvings_ + 1;
    const std::int64_t low = lowest_bit(at);
    std::int64_t first = low;
    if (at > full) first = (full / low + 1) | 1;
    if (at > full) first *= low;
    return halvings_ + first - 1;
  }

  RankTraffic traffic(int) const override {
    const std::int64_t others = ranks() - 1;
    if (others == 0) return {};
    return {rounds(), rounds(), rounds(), others, others};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    if (ranks() == 1) return;
    if (number < halvings_) {
      const std::int64_t apart = whole_ >> number;
      pass_on(rank, apart / 2, apart / 2, apart, number, round);
    } else {
      const std::int64_t at = number - halvings_ + 1;
      pass_on(rank, at, lowest_bit(at), unit_, number, round);
    }
  }

 private:
  static int bits(std::int64_t number) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
  }
  static std::int64_t lowest_bit(std::int64_t number) { return number & -number; }

  // Blocks come to be `at` from their origins, and at multiples of `apart` from there, from the
  // ranks at that distance.
  void pass_on(int rank, std::int64_t at, std::int64_t distance, std::int64_t apart,
               std::int64_t number, Round& round) const {
    const std::int64_t count = (ranks() - 1 - at) / apart + 1;
    const auto origins = [&](std::int64_t nearest) {
      return Blocks::strided(nearest, -apart, count, ranks());
    };
    round.receive(at_distance(rank, -distance), Buffer::output, origins(rank - at));
    round.send(at_distance(rank, distance), number == 0 ? Buffer::input : Buffer::output,
               origins(rank - (at - distance)));
  }

  int halvings_;        // rounds in which messages may grow
  std::int64_t unit_;   // after them a rank has every so manieth block
  std::int64_t whole_;  // the power of two not below the number of ranks
};

}  // namespace

std::unique_ptr<Schedule> allgather_sparbit(const Call& call) {
  return std::make_unique<FarFirst>(call, std::numeric_limits<std::int64_t>::max());
}

std::unique_ptr<Schedule> allgather_far_first(const Call& call) {
  return std::make_unique<FarFirst>(call, call.message_blocks);
}

}  // namespace huddle::schedules
