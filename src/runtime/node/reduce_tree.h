// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of small data in two steps that follow the team's order: the first rank of each block
// reduces its block, then the blocks' results are reduced. In a reduce the root does this. In an
// allreduce it is the first rank, whose result all ranks read; or the first rank of each block,
// whose result its block reads; or every rank.
//
// Data is stored behind its flag, in slots that are used in turn; data larger than a slot is
// processed in several rounds.
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
  // Ranks that reduce the blocks' results in an allreduce.
  enum class Top : std::uint8_t { first_rank, leaders, everybody };
  struct Parameters {
    std::size_t capacity_bytes = most_in_line;  // of a slot
    int slots = 4;                              // used in turn; a power of two
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // at most the capacity
    Top top = Top::first_rank;
  };

  // Requires: shared memory holds `start` everywhere.
  TreeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
             context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  std::size_t scratch_bytes() const { return slot_stride_; }

  // Both collectives require that an element is at most `plan.round_bytes`.
  template <context::Context W>
  void reduce(W& w, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Combine combine{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                contribute(w, offset, combine);
                if (w.rank() == root) combine_blocks(w, {Region::output, root, offset}, combine);
                raise_result_flag(w);
                done_.publish(w, round_);
              });
  }

  template <context::Context W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Combine combine{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                const Address to = {Region::output, w.rank(), offset};
                contribute(w, offset, combine);
                finish(w, to, combine, plan.top);
                // Every rank contributed to this round after it had finished the previous one.
                done_guard_.learn(round_ - 1);
                done_.publish(w, round_);
              });
  }

 private:
  static constexpr int top_rank = 0;

  // The first rank of a block leads it. Slots at `shown_offset_` hold the block's result on a
  // leader and the rank's own contribution on the others; slots at `results_offset_` hold the final
  // result on the leaders, or on the top rank only.
  Address slot_of(int owner, std::size_t queue_offset) const {
    return {Region::shared, owner, queue_offset + round_ % slots_ * slot_stride_};
  }
  // Blocks until the payload of a slot is there and returns its address.
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
  void contribute(W& w, std::size_t offset, const Combine& combine) {
    // All previous readers of this slot must have finished.
    done_guard_.wait_for_others(w, round_ - slots_);
    const Address mine = slot_of(w.rank(), shown_offset_);
    const int last = leads(w.rank())
                         ? reduction_order_.first(reduction_order_.block_of(w.rank()) + 1)
                         : w.rank() + 1;
    const auto contribution = [&](int rank) {
      if (rank == w.rank()) return Address{Region::input, rank, offset};
      return arrived(w, slot_of(rank, shown_offset_), combine.bytes());
    };
    fold_row(w, mine + payload_at(combine.bytes()), {Region::scratch, w.rank(), 0}, w.rank(), last,
             contribution, combine);
    w.store_stamped(mine, round_);
  }

  template <context::Context W>
  void combine_blocks(W& w, Address to, const Combine& combine) {
    const auto block_result = [&](int block) {
      return arrived(w, slot_of(reduction_order_.first(block), shown_offset_), combine.bytes());
    };
    fold_row(w, to, {Region::scratch, w.rank(), 0}, 0, reduction_order_.blocks(), block_result,
             combine);
  }

  template <context::Context W>
  void finish(W& w, Address to, const Combine& combine, Top top) {
    switch (top) {
      case Top::first_rank:
        return share_result(w, to, combine, top_rank);
      case Top::leaders:
        return share_result(w, to, combine, leader_of(w.rank()));
      case Top::everybody:
        combine_blocks(w, to, combine);
        return raise_result_flag(w);
    }
  }

  // Copies the result of the rank that reduces for this rank, which may be this rank itself.
  template <context::Context W>
  void share_result(W& w, Address to, const Combine& combine, int combiner) {
    const Address result = slot_of(combiner, results_offset_);
    if (w.rank() == combiner) {
      combine_blocks(w, result + payload_at(combine.bytes()), combine);
    }
    raise_result_flag(w);
    w.copy(to, arrived(w, result, combine.bytes()), combine.bytes(), memory::CopyKernel::plain);
  }

  // Raised even if no rank waits for it, so that it never falls far behind (counters.h).
  template <context::Context W>
  void raise_result_flag(W& w) const {
    if (leads(w.rank())) w.store_stamped(slot_of(w.rank(), results_offset_), round_);
  }

  int leader_of(int rank) const { return reduction_order_.first(reduction_order_.block_of(rank)); }
  bool leads(int rank) const { return rank == leader_of(rank); }

  ReductionOrder reduction_order_;
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
