// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// For large data: a binomial tree scatters a block for each rank, and recursive doubling gathers
// them (van de Geijn and others), for any number of ranks. Places, counted from the root on, are
// halved, and halved again. Down the halves the first place of both gives the second half to the
// first place of that one; back up, every place of one half exchanges what the halves have with a
// place of the other. The first place of both has everything already: it only sends, and where the
// first half has a place more it goes without a partner.
#include <optional>

#include "runtime/schedules/bcast.h"

namespace huddle::net {
namespace {

// Places in a row. Of an odd number the first half has one more.
struct Places {
  std::int64_t first;
  std::int64_t count;

  Places first_half() const { return {first, (count + 1) / 2}; }
  Places second_half() const { return {first + (count + 1) / 2, count / 2}; }
  Places half_with(std::int64_t at) const {
    return at < second_half().first ? first_half() : second_half();
  }
  Places half_without(std::int64_t at) const {
    return at < second_half().first ? second_half() : first_half();
  }
  Blocks blocks() const { return Blocks::interval(first, count); }

  // Whom a place exchanges with in the other half.
  std::optional<std::int64_t> partner(std::int64_t at) const {
    const std::int64_t apart = count / 2;
    if (at >= second_half().first) return at - apart;
    if (count % 2 != 0 && at == first) return std::nullopt;
    return at + apart;
  }
};

class ScatterDoubling : public Schedule {
 public:
  explicit ScatterDoubling(const Call& call) : Schedule(call) {
    for (std::int64_t reached = 1; reached < ranks(); reached *= 2) ++halvings_;
  }

  std::int64_t blocks() const override { return ranks(); }
  std::int64_t rounds() const override { return 2 * halvings_; }

  RankTraffic traffic(int rank) const override {
    const std::int64_t at = from_root(rank);
    RankTraffic traffic;
    for (std::int64_t times = 0; times < halvings_; ++times) {
      const Places places = halved(at, times);
      const Places second = places.second_half();
      if (second.count == 0) break;
      if (at == places.first || at == second.first) {
        ++traffic.rounds;
        count(at == places.first, second, traffic.sends, traffic.blocks_sent);
        count(at == second.first, second, traffic.receives, traffic.blocks_received);
      }
      if (const auto partner = places.partner(at)) {
        ++traffic.rounds;
        count(*partner != places.first, places.half_with(at), traffic.sends, traffic.blocks_sent);
        count(at != places.first, places.half_without(at), traffic.receives,
              traffic.blocks_received);
      }
    }
    return traffic;
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    const std::int64_t at = from_root(rank);
    const bool scatters = number < halvings_;
    const Places places = halved(at, scatters ? number : rounds() - 1 - number);
    if (places.count == 1) return;
    if (scatters) {
      scatter(at, places, round);
    } else {
      gather(at, places, round);
    }
  }

 private:
  int from_root(int rank) const { return at_distance(rank, -root()); }
  int rank_at(std::int64_t at) const { return at_distance(root(), at); }

  // Those that a place is among after so many halvings.
  Places halved(std::int64_t at, std::int64_t times) const {
    Places places = {0, ranks()};
    for (std::int64_t i = 0; i < times; ++i) places = places.half_with(at);
    return places;
  }

  static void count(bool happens, const Places& places, std::int64_t& messages,
                    std::int64_t& blocks) {
    if (!happens) return;
    ++messages;
    blocks += places.count;
  }

  void scatter(std::int64_t at, const Places& places, Round& round) const {
    const Places second = places.second_half();
    if (at == places.first) round.send(rank_at(second.first), Buffer::output, second.blocks());
    if (at == second.first) round.receive(rank_at(places.first), Buffer::output, second.blocks());
  }

  void gather(std::int64_t at, const Places& places, Round& round) const {
    const auto partner = places.partner(at);
    if (!partner) return;
    const int peer = rank_at(*partner);
    if (at != places.first) {
      round.receive(peer, Buffer::output, places.half_without(at).blocks());
    }
    if (*partner != places.first) {
      round.send(peer, Buffer::output, places.half_with(at).blocks());
    }
  }

  std::int64_t halvings_ = 0;
};

}  // namespace

std::unique_ptr<Schedule> bcast_scatter_doubling(const Call& call) {
  return std::make_unique<ScatterDoubling>(call);
}

}  // namespace huddle::net
