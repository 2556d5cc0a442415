// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"
#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

// Base of allreduces among a power-of-two number of seats (see Folding). The second rank of a
// folded pair sends its contribution to the first at the beginning and receives the result at the
// end.
class FoldedAllreduce : public Schedule {
 public:
  explicit FoldedAllreduce(const Call& call) : Schedule(call), folding_(call.ranks) {}

  std::int64_t rounds() const final { return ranks() == 1 ? 1 : seat_rounds() + (folds() ? 2 : 0); }
  RankTraffic traffic(int rank) const final;
  Scratch scratch(int rank) const final;

 protected:
  void fill(int rank, std::int64_t number, Round& round) const final;

  const Folding& folding() const { return folding_; }

  // Rounds among the seats. `own` is the buffer of a seat's contribution: the input, or the output
  // if it has been combined with that of a folded rank.
  virtual std::int64_t seat_rounds() const = 0;
  virtual void fill_seat(int seat, std::int64_t number, Buffer own, Round& round) const = 0;
  virtual RankTraffic seat_traffic(int seat) const = 0;
  // Returns the maximum number of blocks that a seat receives into scratch at the same time.
  virtual std::int64_t seat_scratch() const = 0;

 private:
  bool folds() const { return folding_.pairs() > 0; }

  Folding folding_;
};

RankTraffic FoldedAllreduce::traffic(int rank) const {
  if (ranks() == 1) return {};
  if (folding_.is_out(rank)) return {2, 1, 1, blocks(), blocks()};
  RankTraffic traffic = seat_traffic(folding_.seat_of(rank));
  if (!folding_.is_paired(rank)) return traffic;
  traffic.rounds += 2;
  ++traffic.sends;
  ++traffic.receives;
  traffic.blocks_sent += blocks();
  traffic.blocks_received += blocks();
  return traffic;
}

Scratch FoldedAllreduce::scratch(int rank) const {
  if (ranks() == 1 || folding_.is_out(rank)) return {};
  return {1, folding_.is_paired(rank) ? blocks() : seat_scratch()};
}

void FoldedAllreduce::fill(int rank, std::int64_t number, Round& round) const {
  const Blocks all = Blocks::interval(0, blocks());
  const std::int64_t last = rounds() - 1;
  if (ranks() == 1) {
    round.copy(Buffer::input, Buffer::output, all);
  } else if (folds() && (number == 0 || number == last)) {
    if (!folding_.is_paired(rank)) return;
    const bool is_out = folding_.is_out(rank);
    const int peer = is_out ? rank - 1 : rank + 1;
    if (number == last) {
      if (is_out) round.receive(peer, Buffer::output, all);
      if (!is_out) round.send(peer, Buffer::output, all);
    } else if (is_out) {
      round.send(peer, Buffer::input, all);
    } else {
      round.receive(peer, schedules::scratch(0), all);
      round.combine(Buffer::input, schedules::scratch(0), Buffer::output, all);
    }
  } else if (!folding_.is_out(rank)) {
    const std::int64_t step = number - (folds() ? 1 : 0);
    const bool untouched = step == 0 && !folding_.is_paired(rank);
    fill_seat(folding_.seat_of(rank), step, untouched ? Buffer::input : Buffer::output, round);
  }
}

namespace {

// Recursive doubling: in round k seats that differ in bit k exchange their partial results.
class AllreduceDoubling : public FoldedAllreduce {
 public:
  using FoldedAllreduce::FoldedAllreduce;

  std::int64_t blocks() const override { return 1; }

 protected:
  std::int64_t seat_rounds() const override { return folding().doublings(); }
  std::int64_t seat_scratch() const override { return 1; }
  RankTraffic seat_traffic(int) const override {
    const std::int64_t rounds = seat_rounds();
    return {rounds, rounds, rounds, rounds, rounds};
  }

  void fill_seat(int seat, std::int64_t number, Buffer own, Round& round) const override {
    const int other = seat ^ (1 << number);
    const int peer = folding().rank_at(other);
    const Blocks all = Blocks::interval(0, 1);
    round.receive(peer, schedules::scratch(0), all);
    round.send(peer, own, all);
    if (other < seat) {
      round.combine(schedules::scratch(0), own, Buffer::output, all);
    } else {
      round.combine(own, schedules::scratch(0), Buffer::output, all);
    }
  }
};

}  // namespace

std::unique_ptr<Schedule> allreduce_doubling(const Call& call) {
  return std::make_unique<AllreduceDoubling>(call);
}

namespace {

// Recursive halving and doubling, for large data: in round k seats that differ in bit k halve their
// common part; each sends the other's half and reduces its own. Then they gather the reduced parts
// in the opposite order. Operations associate as in recursive doubling, because the nearest seats
// come first.
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
    round.receive(peer, schedules::scratch(0), mine);
    round.send(peer, own, others);
    if (other < seat) {
      round.combine(schedules::scratch(0), own, Buffer::output, mine);
    } else {
      round.combine(own, schedules::scratch(0), Buffer::output, mine);
    }
  }

 private:
  // Returns the part that a seat works on after `times` halvings, by its lowest bit first.
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

namespace {

// Slices: every rank reduces one slice (SliceReduction) and sends it to all others. Each
// contribution and each result travels directly to the rank that needs it.
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
    const bool combines = number < others();
    const std::int64_t distance = 1 + number % others();
    const int after = at_distance(rank, distance);
    const int before = at_distance(rank, -distance);
    if (combines) {
      round.receive(after, slice_.place_of(rank, after), Blocks::interval(rank, 1));
      round.send(before, Buffer::input, Blocks::interval(before, 1));
      slice_.combine(rank, after, round);
    } else {
      round.receive(before, Buffer::output, Blocks::interval(before, 1));
      round.send(after, Buffer::output, Blocks::interval(rank, 1));
    }
  }

 private:
  std::int64_t others() const { return ranks() - 1; }

  SliceReduction slice_;
};

}  // namespace

std::unique_ptr<Schedule> allreduce_slices(const Call& call) {
  return std::make_unique<AllreduceSlices>(call);
}

namespace {

// Ring: each block travels around the ring once, from a different rank, and every rank adds its
// contribution. Then the reduced blocks travel around the ring once more. The order of operations
// differs between blocks, so the operator's result must not depend on it.
class AllreduceRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : 2 * others(); }
  std::int64_t like(std::int64_t) const override { return 0; }
  Scratch scratch(int) const override { return ranks() == 1 ? Scratch{} : Scratch{1, 1}; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(2 * others());
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    // Blocks travel in descending order. From round p - 1 on they are reduced blocks, and each rank
    // begins with its own.
    const auto block = [&](std::int64_t before) {
      return Blocks::interval(at_distance(rank, -before), 1);
    };
    const bool combines = number < others();
    const Blocks coming = block(number + 2);
    const Blocks going = block(number + 1);
    round.receive(at_distance(rank, -1), combines ? schedules::scratch(0) : Buffer::output, coming);
    round.send(at_distance(rank, 1), number == 0 ? Buffer::input : Buffer::output, going);
    if (combines) round.combine(schedules::scratch(0), Buffer::input, Buffer::output, coming);
  }

 private:
  std::int64_t others() const { return ranks() - 1; }
};

}  // namespace

std::unique_ptr<Schedule> allreduce_ring(const Call& call) {
  return std::make_unique<AllreduceRing>(call);
}

}  // namespace huddle::schedules
