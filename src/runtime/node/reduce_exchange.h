// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flat reduction: each rank publishes its input and reduces the contributions that it needs: all of
// them, those of the ranks before it, only its own block of each, or none if another rank is the
// root. This moves more data than a tree, but no rank waits for an intermediate result of another
// one. Used for small data, which is stored behind its flag, and for large data of a few ranks.
// Large data is processed in rounds, and the next round is published before the current one is
// reduced.
#pragma once

#include <algorithm>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"
#include "runtime/node/published_rounds.h"
#include "runtime/node/reduction_order.h"

namespace huddle::node {

class ExchangeReduce {
 public:
  using Parameters = PublishedRounds::Parameters;
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // at most the capacity
    // Ping-pong only with two ranks. Readers take ownership only in a reduce, because the root
    // is then the only reader.
    memory::CopyMethod method = {};
  };

  // Requires: the flags, at the beginning of shared memory, hold `start`.
  ExchangeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                 context::Sequence start);

  std::size_t shared_bytes() const { return rounds_.shared_bytes(); }
  std::size_t flags_bytes() const { return rounds_.flags_bytes(); }
  std::size_t scratch_bytes() const { return spare_bytes(rounds_.slot_stride()); }

  // The collectives below require that an element has at most `plan.round_bytes` bytes.
  template <context::Context Ctx>
  void allreduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction,
                 const Plan& plan) {
    run(ctx, {count, reduction}, plan, {},
        [&](const Round& round) { combine_all(ctx, output(ctx, round.offset), round, reduction); });
  }
  // Stores the result in the root's output only. The other ranks do not wait for the root. With
  // ping-pong, the other rank reduces as well, so that it next writes to lines that it has read.
  template <context::Context Ctx>
  void reduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    const Combine all{count, reduction};
    if (plan.method->ownership == memory::LineOwnership::ping_pong) {
      return run(ctx, all, plan, {}, [&](const Round& round) {
        const bool is_root = ctx.rank() == root;
        combine_all(ctx, is_root ? output(ctx, round.offset) : spare(ctx).total, round, reduction);
      });
    }
    const Part unwanted{0, ctx.rank() == root ? all.bytes() : 0};
    const auto combine = [&](const Round& round) {
      if (ctx.rank() != root) return;
      combine_all(ctx, output(ctx, round.offset), round, reduction);
      own_contributions(ctx, round);
    };
    run(ctx, all, plan, unwanted, combine, root);
  }
  // Stores each rank's block of the result in its output. Blocks are counted in elements and are
  // contiguous.
  // Requires: the output is not the input.
  template <context::Context Ctx>
  void reduce_scatter(Ctx& ctx, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    const std::size_t element_bytes = reduction.element_bytes;
    const auto part_of = [&](int rank) {
      const Block block = blocks.of(rank);
      const std::size_t begin = static_cast<std::size_t>(block.offset) * element_bytes;
      return Part{begin, begin + block.bytes * element_bytes};
    };
    const Part mine = part_of(ctx.rank());
    run(ctx, {blocks.total(ctx.ranks()), reduction}, plan, mine, [&](const Round& round) {
      const Part here = common(part(round), mine);
      if (here.bytes() == 0) return;
      const auto contribution = [&](int rank) {
        if (rank == ctx.rank()) return Address{Region::input, rank, here.begin};
        return rounds_.published(ctx, rank, round) + at_in_slot(here.begin, round, part_of(rank));
      };
      fold_ranks(ctx, output(ctx, here.begin - mine.begin), spare(ctx), reduction_order_,
                 contribution, Combine{here.bytes() / element_bytes, reduction});
    });
  }
  // Computes the inclusive prefix reduction in rank order.
  template <context::Context Ctx>
  void scan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, {count, reduction}, plan, not_for_others(ctx, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(ctx, round, ctx.rank() + 1, reduction); });
  }
  // Computes the exclusive prefix reduction in rank order. Does not write to rank 0's output.
  template <context::Context Ctx>
  void exscan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, {count, reduction}, plan, not_for_others(ctx, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(ctx, round, ctx.rank(), reduction); });
  }

  static constexpr context::Sequence slots = PublishedRounds::slots;

 private:
  using Round = PublishedRounds::Round;
  // The bytes `begin` to `end` - 1 of the input.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t bytes() const { return begin < end ? end - begin : 0; }
  };
  static Part common(const Part& a, const Part& b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
  }
  static Part part(const Round& round) { return {round.offset, round.offset + round.bytes}; }
  static Combine combine_of(const Round& round, const memory::Reduction& reduction) {
    return {round.bytes / reduction.element_bytes, reduction};
  }
  // Returns the part of this rank's input that no other rank needs: in prefix reductions, all of
  // the last rank's.
  template <context::Context Ctx>
  static Part not_for_others(const Ctx& ctx, std::size_t bytes) {
    return ctx.rank() + 1 == ctx.ranks() ? Part{0, bytes} : Part{};
  }

  // Publishes all rounds and calls combine(round) for each. `combine` waits only for the ranks
  // whose contributions it needs, so a scan does not wait for the ranks after the caller. The part
  // of the input that no other rank needs (`unwanted`) is not published, and the rest of its round
  // moves up, so that two ranks that need one half each use the same cache lines of a slot.
  template <context::Context Ctx, class CombineRound>
  void run(Ctx& ctx, const Combine& all, const Plan& plan, const Part& unwanted,
           CombineRound combine, PublishedRounds::Reader reader = PublishedRounds::all_ranks) {
    const std::size_t element_bytes = all.reduction.element_bytes;
    const std::size_t most = plan.round_bytes / element_bytes * element_bytes;
    rounds_.run(
        {all.bytes(), most, plan.method->ownership, reader},
        [&](const Round& round) { show(ctx, round, unwanted, plan.method->in); }, combine);
  }

  template <context::Context Ctx>
  static Address output(const Ctx& ctx, std::size_t offset) {
    return {Region::output, ctx.rank(), offset};
  }
  template <context::Context Ctx>
  Spare spare(const Ctx& ctx) const {
    return spare_of(ctx.rank(), rounds_.slot_stride());
  }

  template <context::Context Ctx>
  void show(Ctx& ctx, const Round& round, const Part& unwanted, memory::CopyKernel kernel) {
    const Part whole = part(round);
    if (common(whole, unwanted).bytes() == round.bytes) return rounds_.publish_nothing(ctx, round);
    rounds_.publish(ctx, round, [&](Address mine) {
      for (const Part& part : {Part{whole.begin, std::min(whole.end, unwanted.begin)},
                               Part{std::max(whole.begin, unwanted.end), whole.end}}) {
        if (part.bytes() == 0) continue;
        ctx.copy(mine + at_in_slot(part.begin, round, unwanted),
                 {Region::input, ctx.rank(), part.begin}, part.bytes(), kernel);
      }
    });
  }
  // Returns the offset within a slot at which a byte of the input lies, given the part of the input
  // that is left out.
  static std::size_t at_in_slot(std::size_t byte, const Round& round, const Part& left_out) {
    return byte - round.offset - common({round.offset, byte}, left_out).bytes();
  }

  template <context::Context Ctx>
  auto contributions(Ctx& ctx, const Round& round) const {
    return [this, &ctx, &round](int rank) {
      if (rank == ctx.rank()) return Address{Region::input, rank, round.offset};
      return rounds_.published(ctx, rank, round);
    };
  }

  template <context::Context Ctx>
  void combine_all(Ctx& ctx, Address to, const Round& round, const memory::Reduction& reduction) {
    fold_ranks(ctx, to, spare(ctx), reduction_order_, contributions(ctx, round),
               combine_of(round, reduction));
    rounds_.saw_all(round);
  }
  // Takes ownership of the others' contributions if the plan requires that. The writer of a line
  // with a flag keeps it.
  template <context::Context Ctx>
  void own_contributions(Ctx& ctx, const Round& round) const {
    if (round.lines != memory::LineOwnership::reader_takes || round.is_in_line()) return;
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank != ctx.rank()) ctx.own(rounds_.data_of(rank, round), round.bytes);
    }
  }

  // Reduces in rank order instead of the team's reduction order, because a rank's result is a
  // prefix of the next rank's.
  template <context::Context Ctx>
  void combine_before(Ctx& ctx, const Round& round, int end,
                      const memory::Reduction& reduction) const {
    if (end == 0) return;
    fold_row(ctx, output(ctx, round.offset), spare(ctx).total, 0, end, contributions(ctx, round),
             combine_of(round, reduction));
  }

  ReductionOrder reduction_order_;
  PublishedRounds rounds_;
};

}  // namespace huddle::node
