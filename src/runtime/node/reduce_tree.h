// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of small data in two steps, which follow the team's reduction order: the first rank of
// each block of ranks reduces the contributions of its block, then the results of the blocks are
// reduced. In a reduce, the root performs the second step. In an allreduce, rank 0 performs it and
// all ranks read its result; or the first rank of each block does, and its block reads its result;
// or every rank does.
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
  // Ranks that perform the second step in an allreduce.
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

  // Requires: all words of shared memory hold `start`.
  TreeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
             context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }

  std::size_t scratch_bytes() const { return slot_stride_; }

  // Both collectives require that an element has at most `plan.round_bytes` bytes.
  template <context::Context Ctx>
  void reduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Combine combine{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                contribute(ctx, offset, combine);
                if (ctx.rank() == root)
                  combine_blocks(ctx, {Region::output, root, offset}, combine);
                raise_result_flag(ctx);
                done_.publish(ctx, round_);
              });
  }

  template <context::Context Ctx>
  void allreduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction,
                 const Plan& plan) {
    in_rounds(count, plan.round_bytes / reduction.element_bytes,
              [&](std::size_t from, std::size_t now) {
                const Combine combine{now, reduction};
                const std::size_t offset = from * reduction.element_bytes;
                const Address to = {Region::output, ctx.rank(), offset};
                contribute(ctx, offset, combine);
                finish(ctx, to, combine, plan.top);
                // Every rank contributed to this round after it had finished the previous one.
                done_guard_.learn(round_ - 1);
                done_.publish(ctx, round_);
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
  template <context::Context Ctx>
  Address arrived(Ctx& ctx, Address slot, std::size_t bytes) const {
    ctx.wait_stamped(slot, context::until_reached(round_));
    return slot + payload_at(bytes);
  }

  template <class Round>
  void in_rounds(std::size_t count, std::size_t most, Round round) {
    for (std::size_t from = 0; from < count; from += most) {
      ++round_;
      round(from, std::min(most, count - from));
    }
  }

  template <context::Context Ctx>
  void contribute(Ctx& ctx, std::size_t offset, const Combine& combine) {
    // Waits until all readers of the slot's previous content have finished.
    done_guard_.wait_for_others(ctx, round_ - slots_);
    const Address mine = slot_of(ctx.rank(), shown_offset_);
    const int last = leads(ctx.rank())
                         ? reduction_order_.first(reduction_order_.block_of(ctx.rank()) + 1)
                         : ctx.rank() + 1;
    const auto contribution = [&](int rank) {
      if (rank == ctx.rank()) return Address{Region::input, rank, offset};
      return arrived(ctx, slot_of(rank, shown_offset_), combine.bytes());
    };
    fold_row(ctx, mine + payload_at(combine.bytes()), {Region::scratch, ctx.rank(), 0}, ctx.rank(),
             last, contribution, combine);
    ctx.store_stamped(mine, round_);
  }

  template <context::Context Ctx>
  void combine_blocks(Ctx& ctx, Address to, const Combine& combine) {
    const auto block_result = [&](int block) {
      return arrived(ctx, slot_of(reduction_order_.first(block), shown_offset_), combine.bytes());
    };
    fold_row(ctx, to, {Region::scratch, ctx.rank(), 0}, 0, reduction_order_.blocks(), block_result,
             combine);
  }

  template <context::Context Ctx>
  void finish(Ctx& ctx, Address to, const Combine& combine, Top top) {
    switch (top) {
      case Top::first_rank:
        return share_result(ctx, to, combine, top_rank);
      case Top::leaders:
        return share_result(ctx, to, combine, leader_of(ctx.rank()));
      case Top::everybody:
        combine_blocks(ctx, to, combine);
        return raise_result_flag(ctx);
    }
  }

  // Copies the result of `combiner`. If that is this rank, it first combines the results of the
  // blocks.
  template <context::Context Ctx>
  void share_result(Ctx& ctx, Address to, const Combine& combine, int combiner) {
    const Address result = slot_of(combiner, results_offset_);
    if (ctx.rank() == combiner) {
      combine_blocks(ctx, result + payload_at(combine.bytes()), combine);
    }
    raise_result_flag(ctx);
    ctx.copy(to, arrived(ctx, result, combine.bytes()), combine.bytes(), memory::CopyKernel::plain);
  }

  // Sets the flag even if no rank waits for it, so that it never falls far behind (see counters.h).
  template <context::Context Ctx>
  void raise_result_flag(Ctx& ctx) const {
    if (leads(ctx.rank())) ctx.store_stamped(slot_of(ctx.rank(), results_offset_), round_);
  }

  int leader_of(int rank) const { return reduction_order_.first(reduction_order_.block_of(rank)); }
  bool leads(int rank) const { return rank == leader_of(rank); }

  ReductionOrder reduction_order_;
  std::size_t slot_stride_;
  context::Sequence slots_;
  SharedLayout layout_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t shown_offset_;
  std::size_t results_offset_;
  context::Sequence round_;
};

}  // namespace huddle::node
