// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Recursive doubling: in round k a rank exchanges everything that it has with the rank whose seat
// differs in bit k. Where ranks are folded, the second of a pair gives its block away first, and
// gets all others at the end.
#include "runtime/schedules/allgather.h"
#include "runtime/schedules/folding.h"

namespace huddle::net {
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

}  // namespace huddle::net
