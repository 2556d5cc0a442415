// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <bit>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

namespace {

// A binomial tree over the reduction order: each subtree is reduced at the seat whose low bits
// equal those of the root's seat. The result is therefore bitwise the same for every root, and the
// root has it without a further message.
class Binomial : public Schedule {
 public:
  explicit Binomial(const Call& call)
      : Schedule(call), folding_(call.ranks), root_seat_(seat_of(call.root)) {}

  std::int64_t blocks() const override { return 1; }
  std::int64_t rounds() const override { return ranks() == 1 ? 1 : folds() + folding_.doublings(); }
  Scratch scratch(int rank) const override {
    const std::int64_t received = traffic(rank).receives;
    if (received == 0) return {};
    return {rank == root() ? 1 : 2, 1};
  }

  RankTraffic traffic(int rank) const override {
    if (!is_holder(rank)) return {1, 1, 0, 1, 0};
    const bool is_root = rank == root();
    const std::int64_t received = (folding_.is_paired(rank) ? 1 : 0) +
                                  (is_root ? folding_.doublings() : bits_combined(seat_of(rank)));
    const std::int64_t sent = is_root ? 0 : 1;
    return {received + sent, sent, received, sent, received};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      round.copy(Buffer::input, Buffer::output, Blocks::interval(0, 1));
    } else if (number < folds()) {
      if (folding_.is_paired(rank)) pass(rank, rank ^ 1, !is_holder(rank), Buffer::input, round);
    } else if (is_holder(rank)) {
      const auto bit = static_cast<int>(number - folds());
      const int seat = seat_of(rank);
      const bool takes_part = rank == root() || bits_combined(seat) >= bit;
      const bool untouched = bit == 0 && !folding_.is_paired(rank);
      if (!takes_part) return;
      pass(rank, holder(seat ^ (1 << bit)), rank != root() && bits_combined(seat) == bit,
           untouched ? Buffer::input : joined_in(rank), round);
    }
  }

 private:
  std::int64_t folds() const { return folding_.pairs() > 0 ? 1 : 0; }
  int seat_of(int rank) const {
    return folding_.is_paired(rank) ? rank / 2 : folding_.seat_of(rank);
  }
  // Returns the rank that holds the partial result of a seat. In the pair of the root it is the
  // root, whichever of the two it is.
  int holder(int seat) const { return seat == root_seat_ ? root() : folding_.rank_at(seat); }
  bool is_holder(int rank) const { return holder(seat_of(rank)) == rank; }
  // Returns the number of rounds before a seat other than the root's sends its partial result.
  int bits_combined(int seat) const {
    return std::countr_zero(static_cast<unsigned>(seat ^ root_seat_));
  }
  Buffer joined_in(int rank) const {
    return rank == root() ? Buffer::output : schedules::scratch(1);
  }

  void pass(int rank, int peer, bool sends, Buffer own, Round& round) const {
    const Blocks all = Blocks::interval(0, 1);
    if (sends) {
      round.send(peer, own, all);
      return;
    }
    round.receive(peer, schedules::scratch(0), all);
    const bool peer_is_left = peer < rank;
    round.combine(peer_is_left ? schedules::scratch(0) : own,
                  peer_is_left ? own : schedules::scratch(0), joined_in(rank), all);
  }

  Folding folding_;
  int root_seat_;
};

}  // namespace

std::unique_ptr<Schedule> reduce_binomial(const Call& call) {
  return std::make_unique<Binomial>(call);
}

}  // namespace huddle::schedules
