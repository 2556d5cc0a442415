// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of small data in two steps that follow the team's order: the first rank of each block
// joins its block, then the blocks' results are joined, by the root for a reduce, and for an
// allreduce by the first rank, whose result all read, by the first rank of each block, whose result
// its block reads, or by everybody.
//
// Data ride behind their flags, in slots that are used in turn; what is larger than a slot goes in
// several rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/reduction_order.h"

namespace huddle::node {

class TreeReduce {
 public:
  // Who joins the blocks' results of an allreduce.
  enum class Top : std::uint8_t { first_rank, leaders, everybody };
  struct Parameters {
    std::size_t capacity_bytes = most_in_line;  // of a slot
    int slots = 4;                              // in turn; a power of two
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // not over the capacity
    Top top = Top::first_rank;
  };

  // pre: shared memory holds `start` everywhere.
  TreeReduce(const Parameters& parameters, const ReductionOrder& association,
             context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  std::size_t scratch_bytes() const { return slot_stride_; }

  // Both: pre: an element is not over round_bytes.
  template <context::Context W>
  void reduce(W& w, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Join join{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                contribute(w, offset, join);
                if (w.rank() == root) join_blocks(w, {Region::output, root, offset}, join);
                raise_result_flag(w);
                done_.publish(w, round_);
              });
  }

  template <context::Context W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Join join{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                const Address to = {Region::output, w.rank(), offset};
                contribute(w, offset, join);
                finish(w, to, join, plan.top);
                // All have given theirs in this round, after they were done with the one before.
                done_guard_.learn(round_ - 1);
                done_.publish(w, round_);
              });
  }

 private:
  static constexpr int top_rank = 0;

  // The first rank of a block leads it. In `shown` it has what the block came to, everybody else
  // its own contribution; in `results` leaders, or the top rank alone, have what all came to.
  Address slot_of(int owner, std::size_t queue_offset) const {
    return {Region::shared, owner, queue_offset + round_ % slots_ * slot_stride_};
  }
  // The payload of a slot, once it is there.
  template <context::Context W>
  Address arrived(W& w, Address slot, std::size_t bytes) const {
    w.wait_stamped(slot, context::until_reached(round_));
    return slot + payload_at(bytes);
  }

  template <class Round>
  void in_rounds(std::size_t count, std::size_t most, Round round) {
    for (std::size_t from = 0; from < count; from += most) {
      ++round_;
      round(from, std::min(most, count - from));
    }
  }

  template <context::Context W>
  void contribute(W& w, std::size_t offset, const Join& join) {
    // Whoever read this slot last has to be through with it.
    done_guard_.wait_for_others(w, round_ - slots_);
    const Address mine = slot_of(w.rank(), shown_offset_);
    const int last =
        leads(w.rank()) ? association_.first(association_.block_of(w.rank()) + 1) : w.rank() + 1;
    const auto contribution = [&](int rank) {
      if (rank == w.rank()) return Address{Region::input, rank, offset};
      return arrived(w, slot_of(rank, shown_offset_), join.bytes());
    };
    fold_row(w, mine + payload_at(join.bytes()), {Region::scratch, w.rank(), 0}, w.rank(), last,
             contribution, join);
    w.store_stamped(mine, round_);
  }

  template <context::Context W>
  void join_blocks(W& w, Address to, const Join& join) {
    const auto block_result = [&](int block) {
      return arrived(w, slot_of(association_.first(block), shown_offset_), join.bytes());
    };
    fold_row(w, to, {Region::scratch, w.rank(), 0}, 0, association_.blocks(), block_result, join);
  }

  template <context::Context W>
  void finish(W& w, Address to, const Join& join, Top top) {
    switch (top) {
      case Top::first_rank:
        return share_result(w, to, join, top_rank);
      case Top::leaders:
        return share_result(w, to, join, leader_of(w.rank()));
      case Top::everybody:
        join_blocks(w, to, join);
        return raise_result_flag(w);
    }
  }

  // From the rank that joins for this one, and perhaps for this one alone.
  template <context::Context W>
  void share_result(W& w, Address to, const Join& join, int joiner) {
    const Address result = slot_of(joiner, results_offset_);
    if (w.rank() == joiner) {
      join_blocks(w, result + payload_at(join.bytes()), join);
    }
    raise_result_flag(w);
    w.copy(to, arrived(w, result, join.bytes()), join.bytes(), memory::CopyKernel::plain);
  }

  // Also in rounds in which nobody waits for it, so that it never falls far behind (counters.h).
  template <context::Context W>
  void raise_result_flag(W& w) const {
    if (leads(w.rank())) w.store_stamped(slot_of(w.rank(), results_offset_), round_);
  }

  int leader_of(int rank) const { return association_.first(association_.block_of(rank)); }
  bool leads(int rank) const { return rank == leader_of(rank); }

  ReductionOrder association_;
  std::size_t slot_stride_;
  context::Sequence slots_;
  SharedLayout carver_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t shown_offset_;
  std::size_t results_offset_;
  context::Sequence round_;
};

}  // namespace huddle::node
