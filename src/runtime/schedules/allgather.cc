// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

namespace {

// Ring: in each round every rank sends one block to the next rank: first its own blocks, then those
// that it has received from the previous rank. Thus a rank that contributes more blocks does not
// delay the blocks of the others. Blocks are sent in descending order, cyclically.
class AllgatherRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return shares().sum(ranks()); }
  BlockSpan own_blocks(int rank) const override { return shares().of(rank); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : blocks() - shares().least(); }
  // Rounds are alike until some rank has all blocks.
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
  // A rank sends its own blocks, the last one first, then those received from the previous rank.
  Blocks sent_by(int rank, std::int64_t number) const {
    const BlockSpan own = own_blocks(rank);
    return Blocks::circular(own.first + own.count - 1 - number, 1, blocks());
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_ring(const Call& call) {
  return std::make_unique<AllgatherRing>(call);
}

namespace {

// The neighbor exchange of Chen, Zhang, Zhang and Yuan: only neighbors communicate, each exchange
// goes in both directions, and there are half the rounds of a ring. Blocks travel in pairs (0 1),
// (2 3), ...: first the two ranks of a pair exchange their blocks, then each rank exchanges with
// its two neighbors alternately, passing on the pair that it received in the previous round.
//
// With an odd number of ranks, the last rank sends its block to the one before it and pauses; its
// block travels as a third block of the last pair, and at the end it receives all other blocks.
class NeighborExchange : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : pairs() + (is_odd() ? 2 : 0); }
  // With an odd number of ranks, the third block makes rounds differ.
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
    // The first message contains a single block, the others contain pairs.
    RankTraffic traffic{pairs(), pairs(), pairs(), 2 * pairs() - 1, others};
    if (!is_odd()) return traffic;
    if (sends_last_pair(rank)) ++traffic.blocks_sent;
    if (rank == others - 1) {  // one more block at first, and all of them at the end
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

  // Returns the distance, in pairs to the right, from a rank's own pair to the one received in a
  // step. Even ranks begin to the left: -1, 1, -2, 2, ...
  static std::int64_t distance(int rank, std::int64_t step) {
    const std::int64_t far = (step + 1) / 2;
    return (rank + step) % 2 == 0 ? far : -far;
  }
  // Returns the pair that a rank receives in a step; in step 0 its own pair.
  std::int64_t pair_at(int rank, std::int64_t step) const {
    return (rank / 2 + distance(rank, step) + pairs()) % pairs();
  }
  Blocks blocks_of(std::int64_t pair) const {
    const bool has_third = is_odd() && pair == pairs() - 1;
    return Blocks::interval(2 * pair, has_third ? 3 : 2);
  }
  // All pairs are passed on except the one received in the last step.
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

namespace {

// Recursive doubling: in round k a rank exchanges all blocks that it has with the rank whose seat
// (see Folding) differs in bit k. If ranks are folded, the second rank of a pair first sends its
// block to its partner, and receives all other blocks from it at the end.
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
      send_input(rank, round);
    } else if (folds && number == rounds() - 1) {
      send_result(rank, round);
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
  // Returns the blocks that a seat has before it exchanges with the seat that differs in this bit.
  Blocks held(int seat, int bit) const {
    const int first = seat >> bit << bit;
    const int begin = folding_.rank_at(first);
    return Blocks::interval(begin, folding_.rank_at(first + (1 << bit)) - begin);
  }

  void send_input(int rank, Round& round) const {
    if (!folding_.is_paired(rank)) return;
    if (folding_.is_out(rank)) {
      round.send(rank - 1, Buffer::input, Blocks::interval(rank, 1));
    } else {
      round.receive(rank + 1, Buffer::output, Blocks::interval(rank + 1, 1));
    }
  }

  void send_result(int rank, Round& round) const {
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

namespace {

// The algorithm of Bruck and others: a rank that has its own block and the d - 1 blocks after it
// receives d more from the rank at distance d. With a radix k it receives from k - 1 ranks per
// round, at distances d, 2d, ... . The last round transfers only the missing blocks.
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
  // Returns the number of peers that a rank with `have` blocks receives from in the next round.
  std::int64_t peers(std::int64_t have) const {
    return std::min<std::int64_t>(call().radix - 1, (ranks() - 1) / have);
  }
};

}  // namespace

std::unique_ptr<Schedule> allgather_bruck(const Call& call) {
  return std::make_unique<AllgatherBruck>(call);
}

namespace {

// Far-first: each block travels down a binomial tree of its own whose longest edge, about half the
// ring, comes first, while messages contain one block; the short edges come last, when messages are
// large. That is sparbit (Loch and Koslovski). A block at offset `o` from its origin came from the
// rank at offset `o` with the lowest bit cleared.
//
// If the number of blocks per message is bounded, the first rounds are the same, until messages
// have reached that size. The rest is done depth first, as in PAT (NCCL): in round t a rank
// receives the blocks at offset t, and at multiples of a unit from there, that the rank at offset t
// with the lowest bit cleared already has. Blocks are forwarded within few rounds, so that little
// data is in transit.
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
    // Rounds up to `full` transfer a block of every unit, the others omit the last unit.
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

  // Receives the blocks whose origins are `at` plus multiples of `apart` ranks back from the rank
  // that is `distance` ranks back, and sends blocks forward accordingly.
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
  std::int64_t unit_;   // after them a rank has every unit_-th block
  std::int64_t whole_;  // smallest power of two that is at least the number of ranks
};

}  // namespace

std::unique_ptr<Schedule> allgather_sparbit(const Call& call) {
  return std::make_unique<FarFirst>(call, std::numeric_limits<std::int64_t>::max());
}

std::unique_ptr<Schedule> allgather_far_first(const Call& call) {
  return std::make_unique<FarFirst>(call, call.message_blocks);
}

}  // namespace huddle::schedules
