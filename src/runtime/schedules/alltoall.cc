// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>

#include "runtime/schedules/algorithms.h"

namespace huddle::schedules {

namespace {

// Spread: in round i each rank sends to the rank at distance i + 1.
class Spread : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : ranks() - 1; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (number == 0) round.copy(Buffer::input, Buffer::output, Blocks::interval(rank, 1));
    if (ranks() == 1) return;
    const int before = at_distance(rank, -(number + 1));
    const int after = at_distance(rank, number + 1);
    round.receive(before, Buffer::output, Blocks::interval(before, 1));
    round.send(after, Buffer::input, Blocks::interval(after, 1));
  }
};

}  // namespace

std::unique_ptr<Schedule> alltoall_spread(const Call& call) {
  return std::make_unique<Spread>(call);
}

namespace {

// Pairwise: in round s rank r exchanges with rank (s - r) modulo the number of ranks, which
// exchanges with it in the same round. Received blocks are staged in scratch until the local block
// has been sent, so that the exchange works in place.
class Pairwise : public Schedule {
 public:
  using Schedule::Schedule;

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return ranks(); }
  Scratch scratch(int) const override { return ranks() == 1 ? Scratch{} : Scratch{1, 1}; }
  RankTraffic traffic(int) const override {
    return RankTraffic::of_one_block_each_way(ranks() - 1);
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const int peer = at_distance(-rank, number);
    const Blocks block = Blocks::interval(peer, 1);
    if (peer == rank) {
      round.copy(Buffer::input, Buffer::output, block);
      return;
    }
    round.receive(peer, schedules::scratch(0), block);
    round.send(peer, Buffer::input, block);
    round.copy(schedules::scratch(0), Buffer::output, block);
  }
};

}  // namespace

std::unique_ptr<Schedule> alltoall_pairwise(const Call& call) {
  return std::make_unique<Pairwise>(call);
}

namespace {

// The algorithm of Bruck and others: the cyclic distance that a block has to travel is decomposed
// into digits, the lowest first. In round x all blocks with the digit z at position x travel z
// units, in one message. There are log p rounds, and blocks pass through other ranks.
//
// A block that travels a total distance of d is stored on every rank on its way d places before the
// rank's own place, which is the correct place on its destination. Each round moves all blocks from
// one of two buffers to the other, by messages or copies, so that no buffer is both received into
// and sent from, and the last round ends in the output.
class AlltoallBruck : public Schedule {
 public:
  explicit AlltoallBruck(const Call& call) : Schedule(call) {
    for (std::int64_t unit = radix(); unit < ranks(); unit *= radix()) ++rounds_;
  }

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return rounds_; }
  Scratch scratch(int) const override { return rounds_ == 1 ? Scratch{} : Scratch{1, ranks()}; }

  RankTraffic traffic(int) const override {
    RankTraffic traffic;
    for (std::int64_t unit = 1; unit < ranks(); unit *= radix()) {
      ++traffic.rounds;
      traffic.sends += peers(unit);
      traffic.blocks_sent += ranks() - periods(unit) * unit - cut_off(unit, 0);
    }
    traffic.receives = traffic.sends;
    traffic.blocks_received = traffic.blocks_sent;
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    std::int64_t unit = 1;
    for (std::int64_t i = 0; i < number; ++i) unit *= radix();
    const Buffer source = number == 0 ? Buffer::input : buffer_after(number - 1);
    const Buffer target = buffer_after(number);
    const auto sources = [&](std::int64_t digit) {
      return number == 0 ? ahead(rank, digit) : behind(rank, unit, digit);
    };
    for (std::int64_t digit = 1; digit <= peers(unit); ++digit) {
      const std::int64_t distance = digit * unit;
      round.receive(at_distance(rank, -distance), target, behind(rank, unit, digit));
      round.send(at_distance(rank, distance), source, sources(digit));
    }
    round.copy({source, sources(0)}, {target, behind(rank, unit, 0)});
  }

 private:
  std::int64_t radix() const { return call().radix; }
  // Returns the number of peers to which a rank sends in the round with this unit.
  std::int64_t peers(std::int64_t unit) const {
    return std::min(radix() - 1, (ranks() - 1) / unit);
  }
  Buffer buffer_after(std::int64_t number) const {
    return (rounds_ - number) % 2 != 0 ? Buffer::output : schedules::scratch(0);
  }

  // The distances whose digit of weight `unit` is `digit`, in base radix(), form runs of `unit`
  // distances, one per period of unit * radix(). periods() is the number of complete periods, and
  // cut_off() the length of the run in the incomplete last one.
  std::int64_t periods(std::int64_t unit) const { return ranks() / (unit * radix()); }
  std::int64_t cut_off(std::int64_t unit, std::int64_t digit) const {
    const std::int64_t rest = ranks() - (periods(unit) * radix() + digit) * unit;
    return std::clamp<std::int64_t>(rest, 0, unit);
  }

  // Returns the places at the distances with this digit before the rank's own place.
  Blocks behind(int rank, std::int64_t unit, std::int64_t digit) const {
    const std::int64_t period = unit * radix();
    const std::int64_t first = rank - digit * unit;
    const std::int64_t rest = cut_off(unit, digit);
    Blocks blocks;
    blocks.add_circular({first - unit + 1, unit, periods(unit), -period}, ranks());
    blocks.add_circular({first - periods(unit) * period - rest + 1, rest, 1, 0}, ranks());
    return blocks;
  }
  // Returns the places at the distances with this digit after the rank's own, for a unit of 1. The
  // input has the blocks for those ranks there. The order is that of behind().
  Blocks ahead(int rank, std::int64_t digit) const {
    return Blocks::strided(rank + digit, radix(), periods(1) + cut_off(1, digit), ranks());
  }

  std::int64_t rounds_ = 1;
};

}  // namespace

std::unique_ptr<Schedule> alltoall_bruck(const Call& call) {
  return std::make_unique<AlltoallBruck>(call);
}

}  // namespace huddle::schedules
