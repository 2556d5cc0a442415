// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules {

namespace {

constexpr Buffer incoming = scratch(0);
constexpr Buffer total = scratch(1);   // of the subtree that contains the seat
constexpr Buffer second = scratch(2);  // prefix of the second rank of a pair

// Recursive doubling: in round k seats that differ in bit k exchange the totals of their subtrees
// of the reduction order, and the right seat combines the left one's total with its prefix. The
// first rank of a folded pair also computes the second one's prefix.
class ScanDoubling : public Schedule {
 public:
  ScanDoubling(const Call& call, bool inclusive)
      : Schedule(call), folding_(call.ranks), inclusive_(inclusive) {}

  std::int64_t blocks() const override { return 1; }
  std::int64_t rounds() const override {
    return ranks() == 1 ? 1 : folding_.doublings() + (folds() ? 2 : 0);
  }
  Scratch scratch(int rank) const override {
    if (ranks() == 1 || folding_.is_out(rank)) return {};
    return {folding_.is_paired(rank) ? 3 : 2, 1};
  }
  RankTraffic traffic(int rank) const override {
    if (ranks() == 1) return {};
    const bool is_paired = folding_.is_paired(rank);
    if (folding_.is_out(rank)) return {2, 1, 1, 1, 1};
    const std::int64_t messages = folding_.doublings() + (is_paired ? 1 : 0);
    return {messages + (is_paired ? 1 : 0), messages, messages, messages, messages};
  }

 protected:
  void fill(int rank, std::int64_t number, Round& round) const override {
    if (ranks() == 1) {
      if (inclusive_) round.copy(Buffer::input, Buffer::output, all);
    } else if (folds() && (number == 0 || number == rounds() - 1)) {
      if (folding_.is_paired(rank)) fold(rank, number == 0, round);
    } else if (!folding_.is_out(rank)) {
      step(rank, static_cast<int>(number - (folds() ? 1 : 0)), round);
    }
  }

 private:
  bool folds() const { return folding_.pairs() > 0; }

  void fold(int rank, bool begins, Round& round) const {
    if (folding_.is_out(rank)) {
      if (begins) round.send(rank - 1, Buffer::input, all);
      if (!begins) round.receive(rank - 1, Buffer::output, all);
      return;
    }
    if (!begins) {
      round.send(rank + 1, second, all);
      return;
    }
    round.receive(rank + 1, incoming, all);
    round.combine(Buffer::input, incoming, total, all);
    round.copy(inclusive_ ? total : Buffer::input, second, all);
    if (inclusive_) round.copy(Buffer::input, Buffer::output, all);
  }

  void step(int rank, int bit, Round& round) const {
    const int seat = folding_.seat_of(rank);
    const int other = seat ^ (1 << bit);
    const int peer = folding_.rank_at(other);
    const bool other_is_left = other < seat;
    const bool untouched = bit == 0 && !folding_.is_paired(rank);
    const Buffer own = untouched ? Buffer::input : total;
    round.receive(peer, incoming, all);
    round.send(peer, own, all);
    // The output may be the input, so the input is read before the output is written.
    if (bit + 1 < folding_.doublings()) {
      round.combine(other_is_left ? incoming : own, other_is_left ? own : incoming, total, all);
    }
    if (untouched && inclusive_) round.copy(Buffer::input, Buffer::output, all);
    if (!other_is_left) return;
    // In an exclusive scan the first seat of a subtree has no prefix yet.
    const bool is_first = (seat & ((1 << bit) - 1)) == 0;
    if (is_first && !inclusive_) {
      round.copy(incoming, Buffer::output, all);
    } else {
      round.combine(incoming, Buffer::output, Buffer::output, all);
    }
    if (folding_.is_paired(rank)) round.combine(incoming, second, second, all);
  }

  static inline const Blocks all = Blocks::interval(0, 1);

  Folding folding_;
  bool inclusive_;
};

}  // namespace

std::unique_ptr<Schedule> scan_doubling(const Call& call) {
  return std::make_unique<ScanDoubling>(call, true);
}

std::unique_ptr<Schedule> exscan_doubling(const Call& call) {
  return std::make_unique<ScanDoubling>(call, false);
}

}  // namespace huddle::schedules
