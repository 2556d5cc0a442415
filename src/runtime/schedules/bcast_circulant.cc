// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Broadcast of n segments to p ranks in n - 1 + ceil(log2 p) rounds, which is optimal, for any p
// (Traff, "Optimal broadcast schedules in logarithmic time"). In every round each rank sends to the
// rank one skip ahead. The skips are about p/2, p/4, ... 1, used in ascending order, repeatedly.
//
// The segment that a rank receives by each skip repeats with the period of the skips, increased by
// the number of skips. One of the segments comes from the root on the greedy path of skips; for the
// others a search selects skips such that each brings a different segment, which its sender has
// already received. A rank computes its own schedule alone, in O(log p) steps; what it sends is
// what its receivers compute for themselves.
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/schedules/algorithms.h"

namespace huddle::schedules {
namespace {

constexpr int most_skips = 32;

class Skips {
 public:
  explicit Skips(int ranks)
      : ranks_(ranks), count_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)))) {
    std::int64_t skip = ranks;
    for (int k = count_; k >= 0; --k) {
      skips_[static_cast<std::size_t>(k)] = skip;
      skip = (skip + 1) / 2;
    }
  }
  int count() const { return count_; }
  std::int64_t operator[](int k) const { return skips_[static_cast<std::size_t>(k)]; }
  std::int64_t ranks() const { return ranks_; }

  // Returns the last skip on the greedy path from the root, or count() for the root itself.
  int last_on_the_way_to(std::int64_t place) const {
    for (int k = count_ - 1; k >= 0 && place > 0; --k) {
      if (place == (*this)[k]) return k;
      if (place > (*this)[k]) place -= (*this)[k];
    }
    return count_;
  }

 private:
  std::int64_t ranks_;
  int count_;
  std::array<std::int64_t, most_skips + 1> skips_ = {};
};

// The segment that a place receives by each skip, relative to the first segment of this period:
// numbers from 0 on belong to this period, negative ones to earlier ones.
class Received {
 public:
  Received(const Skips& skips, std::int64_t place)
      : skips_(skips), target_(skips.ranks() + place), bound_(2 * skips.ranks()) {
    const int own = skips.last_on_the_way_to(place);
    // The analyzer assumes any int for the number of skips; it is between 0 and most_skips.
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    free_ = ((std::uint64_t{2} << skips.count()) - 1) & ~(std::uint64_t{1} << own);
    search(0, skips.count());
    for (int k = 0; k < skips.count(); ++k) {
      int& segment = segments_[static_cast<std::size_t>(k)];
      segment = segment == skips.count() ? own : segment - skips.count();
    }
  }
  int operator[](int k) const { return segments_[static_cast<std::size_t>(k)]; }

 private:
  // Searches paths from the root by decreasing skips, the longest path first. If a path ends where
  // skip `found_` reaches the place, its last skip is the segment received by that skip.
  void search(std::int64_t at, int longest) {
    for (int e = longest; e >= 0 && found_ < skips_.count(); --e) {
      if ((free_ >> e & 1) == 0) continue;
      const std::int64_t end = at + skips_[e];
      if (end > target_ - skips_[found_] || end >= bound_) continue;
      if (end <= target_ - skips_[found_ + 1]) {
        search(end, e - 1);
        if (found_ == skips_.count()) return;
      }
      if (at > target_ - skips_[found_ + 1]) return;
      bound_ = end;
      segments_[static_cast<std::size_t>(found_++)] = e;
      free_ &= ~(std::uint64_t{1} << e);
    }
  }

  const Skips& skips_;
  std::int64_t target_;
  std::int64_t bound_;  // each path must end before the previous one
  std::uint64_t free_ = 0;
  int found_ = 0;
  std::array<int, most_skips + 1> segments_ = {};
};

class Circulant : public Schedule {
 public:
  explicit Circulant(const Call& call) : Schedule(call), skips_(call.ranks) {}

  std::int64_t blocks() const override { return call().segments; }
  std::int64_t rounds() const override { return ranks() == 1 ? 0 : blocks() - 1 + skips_.count(); }
  std::int64_t like(std::int64_t number) const override {
    // From the third period of skips on every rank but the root receives in each round.
    const std::int64_t turn = (number + lead()) / skips_.count();
    return turn > 2 ? number - (turn - 2) * skips_.count() : number;
  }

  RankTraffic traffic(int rank) const override {
    const std::int64_t at = at_distance(rank, -root());
    RankTraffic traffic;
    for (int k = 0; k < skips_.count(); ++k) {
      const std::int64_t received = rounds_with(begin_of(at, k), k);
      const std::int64_t sent = rounds_with(begin_of(next(at, k), k), k);
      traffic.rounds += std::max(received, sent);
      traffic.receives += received;
      traffic.sends += sent;
    }
    traffic.blocks_received = traffic.receives;
    traffic.blocks_sent = traffic.sends;
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t at = at_distance(rank, -root());
    const int k = static_cast<int>((number + lead()) % skips_.count());
    if (const std::int64_t from = begin_of(at, k); number >= from) {
      round.receive(at_distance(rank, -skips_[k]), Buffer::output, segment(number - from));
    }
    if (const std::int64_t from = begin_of(next(at, k), k); number >= from) {
      round.send(at_distance(rank, skips_[k]), Buffer::output, segment(number - from));
    }
  }

 private:
  // Returns how many initial rounds are omitted so that the last round uses the longest skip.
  std::int64_t lead() const {
    const std::int64_t over = (blocks() - 1) % skips_.count();
    return over == 0 ? 0 : skips_.count() - over;
  }
  std::int64_t next(std::int64_t at, int k) const { return (at + skips_[k]) % ranks(); }

  // Returns the round in which segment 0 would reach a place by skip k. The root never receives.
  std::int64_t begin_of(std::int64_t at, int k) const {
    return at == 0 ? rounds() : k - Received(skips_, at)[k];
  }
  // Returns the number of rounds from `begin` on in which skip k is used.
  std::int64_t rounds_with(std::int64_t begin, int k) const {
    const std::int64_t count = skips_.count();
    const std::int64_t first = (k - lead() + count) % count;
    const std::int64_t from = std::max<std::int64_t>(begin, 0);
    const std::int64_t before = from <= first ? 0 : (from - first + count - 1) / count;
    const std::int64_t all = rounds() <= first ? 0 : (rounds() - first + count - 1) / count;
    return std::max<std::int64_t>(all - before, 0);
  }
  // Near the end a schedule may ask for a segment after the last one; the last one is sent instead.
  Blocks segment(std::int64_t number) const {
    return Blocks::interval(std::min(number, blocks() - 1), 1);
  }

  Skips skips_;
};

}  // namespace

std::unique_ptr<Schedule> bcast_circulant(const Call& call) {
  return std::make_unique<Circulant>(call);
}

}  // namespace huddle::schedules
