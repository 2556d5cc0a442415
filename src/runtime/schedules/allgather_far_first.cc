// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Far ones first: each block goes down a binomial tree of its own, whose longest edge, about half
// round the circle, comes first, when a message has one block; the short edges come last, when
// messages are large. That is sparbit (Loch and Koslovski). A block that is `o` ranks from where it
// came got there from the rank at o less its lowest bit.
//
// With so many blocks to a message as may be, and no more, the first rounds are the same. What is
// left is done depth first, as in PAT (NCCL): round t brings the blocks at t, and those a unit
// apart from them, from the ranks at t less its lowest bit. What has come is passed on within few
// rounds, so that little is on its way at any time.
#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/schedules/allgather.h"

namespace huddle::net {
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

}  // namespace huddle::net
