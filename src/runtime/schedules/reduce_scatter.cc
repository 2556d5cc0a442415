// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

namespace {

// Recursive halving, the nearest seats first: in round k seats that differ in bit k divide their
// common blocks by that bit of the destination seats; each sends the other side's blocks and
// reduces its own.
class ReduceScatterHalving : public Schedule {
 public:
  explicit ReduceScatterHalving(const Call& call) : Schedule(call), folding_(call.ranks) {}

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override {
    return ranks() == 1 ? 1 : folding_.doublings() + (folds() ? 2 : 0);
  }
  Scratch scratch(int rank) const override {
    if (ranks() == 1 || folding_.is_out(rank)) return {};
    return {2, ranks()};
  }

  RankTraffic traffic(int rank) const override {
    if (ranks() == 1) return {};
    if (folding_.is_out(rank)) return {2, 1, 1, ranks(), 1};
    const std::int64_t messages = folding_.doublings();
    RankTraffic traffic{messages, messages, messages, 0, 0};
    const int seat = folding_.seat_of(rank);
    for (int bit = 0; bit < folding_.doublings(); ++bit) {
      traffic.blocks_sent += for_seats_like(seat ^ (1 << bit), bit + 1).count();
      traffic.blocks_received += for_seats_like(seat, bit + 1).count();
    }
    if (!folding_.is_paired(rank)) return traffic;
    return {messages + 2, messages + 1, messages + 1, traffic.blocks_sent + 1,
            traffic.blocks_received + ranks()};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t last = rounds() - 1;
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
    } else if (folds() && number == 0) {
      send_input(rank, round);
    } else if (folds() && number == last) {
      send_result(rank, round);
    } else if (!folding_.is_out(rank)) {
      const auto bit = static_cast<int>(number - (folds() ? 1 : 0));
      halve(rank, bit, round);
      if (bit == folding_.doublings() - 1) {
        round.copy(schedules::scratch(1), Buffer::output, Blocks::interval(rank, 1));
      }
    }
  }

 private:
  bool folds() const { return folding_.pairs() > 0; }

  // Returns the blocks for the ranks of all seats that have the same `bits` low bits as `seat`.
  Blocks for_seats_like(int seat, int bits) const {
    const std::int64_t apart = std::int64_t{1} << bits;
    const std::int64_t first = seat & (apart - 1);
    const auto below = [&](std::int64_t end) {
      return end <= first ? 0 : (end - first + apart - 1) / apart;
    };
    const std::int64_t paired = below(folding_.pairs());
    const std::int64_t alone = below(folding_.seats()) - paired;
    Blocks blocks;
    blocks.add({2 * first, 2, paired, 2 * apart});
    blocks.add({first + paired * apart + folding_.pairs(), 1, alone, apart});
    return blocks;
  }

  void send_input(int rank, Round& round) const {
    if (!folding_.is_paired(rank)) return;
    const Blocks all = Blocks::interval(0, ranks());
    if (folding_.is_out(rank)) {
      round.send(rank - 1, Buffer::input, all);
      return;
    }
    round.receive(rank + 1, schedules::scratch(0), all);
    round.combine(Buffer::input, schedules::scratch(0), schedules::scratch(1), all);
  }

  void halve(int rank, int bit, Round& round) const {
    const int seat = folding_.seat_of(rank);
    const int other = seat ^ (1 << bit);
    const int peer = folding_.rank_at(other);
    const bool untouched = bit == 0 && !folding_.is_paired(rank);
    const Buffer own = untouched ? Buffer::input : schedules::scratch(1);
    const Blocks mine = for_seats_like(seat, bit + 1);
    round.receive(peer, schedules::scratch(0), mine);
    round.send(peer, own, for_seats_like(other, bit + 1));
    const bool other_is_left = other < seat;
    round.combine(other_is_left ? schedules::scratch(0) : own,
                  other_is_left ? own : schedules::scratch(0), schedules::scratch(1), mine);
  }

  void send_result(int rank, Round& round) const {
    if (!folding_.is_paired(rank)) return;
    if (folding_.is_out(rank)) {
      round.receive(rank - 1, Buffer::output, Blocks::interval(rank, 1));
    } else {
      round.send(rank + 1, schedules::scratch(1), Blocks::interval(rank + 1, 1));
    }
  }

  Folding folding_;
};

}  // namespace

std::unique_ptr<Schedule> reduce_scatter_halving(const Call& call) {
  return std::make_unique<ReduceScatterHalving>(call);
}

namespace {

// Every rank reduces its own block (SliceReduction): contributions travel directly to that rank.
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
    slice_.combine(rank, after, round);
  }

 private:
  SliceReduction slice_;
};

}  // namespace

std::unique_ptr<Schedule> reduce_scatter_slices(const Call& call) {
  return std::make_unique<ReduceScatterSlices>(call);
}

namespace {

// Ring: each block travels around the ring to its rank, and every rank on the way adds its
// contribution. The order of operations differs between blocks.
class ReduceScatterRing : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  std::int64_t like(std::int64_t) const override { return 0; }
  Scratch scratch(int) const override {
    if (ranks() == 1) return {};
    return {ranks() == 2 ? 1 : 2, 1};
  }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
      return;
    }
    const bool is_last = number == rounds() - 1;
    const Blocks coming = Blocks::interval(at_distance(rank, -(number + 2)), 1);
    const Blocks going = Blocks::interval(at_distance(rank, -(number + 1)), 1);
    round.receive(at_distance(rank, -1), schedules::scratch(0), coming);
    round.send(at_distance(rank, 1), number == 0 ? Buffer::input : schedules::scratch(1), going);
    round.combine(schedules::scratch(0), Buffer::input,
                  is_last ? Buffer::output : schedules::scratch(1), coming);
  }
};

}  // namespace

std::unique_ptr<Schedule> reduce_scatter_ring(const Call& call) {
  return std::make_unique<ReduceScatterRing>(call);
}

}  // namespace huddle::schedules
