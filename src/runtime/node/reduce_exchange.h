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
#include "runtime/node/reduction_order.h"

namespace huddle::node {

class ExchangeReduce {
 public:
  struct Parameters {
    std::size_t capacity_bytes = most_in_line;  // of a slot
    // number of cache lines for flags; a power of two, so that indices stay consistent when
    // counters wrap around
    context::Sequence lines = 16;
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // at most the capacity
    // Ping-pong only with two ranks. Readers take ownership only in a reduce, where the root is the
    // only reader.
    memory::CopyMethod method = {};
  };

  // Requires: the flags, at the beginning of shared memory, hold `start`.
  ExchangeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                 context::Sequence start);

  std::size_t shared_bytes() const { return slots_at() + slots * slot_stride_; }
  std::size_t flags_bytes() const { return slots_at(); }
  std::size_t scratch_bytes() const { return spare_bytes(slot_stride_); }

  // The collectives below require that an element has at most `plan.round_bytes` bytes.
  template <context::Context Ctx>
  void allreduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction,
                 const Plan& plan) {
    run(ctx, {count, reduction}, plan, {},
        [&](const Round& round) { combine_all(ctx, output(ctx, round.offset), round); });
  }
  // Stores the result in the root's output only. The other ranks do not wait for the root. With
  // ping-pong, the other rank reduces as well, so that it next writes to lines that it has read.
  template <context::Context Ctx>
  void reduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    const bool both_read = plan.method->ownership == memory::LineOwnership::ping_pong;
    const bool is_root = ctx.rank() == root;
    const Part unwanted{0, is_root && !both_read ? count * reduction.element_bytes : 0};
    run(ctx, {count, reduction}, plan, unwanted, [&](const Round& round) {
      if (!is_root && !both_read) return;
      combine_all(ctx, is_root ? output(ctx, round.offset) : spare(ctx).total, round);
      own_contributions(ctx, round);
    });
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
      const Part here = common(round.part(), mine);
      if (here.bytes() == 0) return;
      const auto contribution = [&](int rank) {
        if (rank == ctx.rank()) return Address{Region::input, rank, here.begin};
        return shown(ctx, rank, round) + at_in_slot(here.begin, round, part_of(rank));
      };
      fold_ranks(ctx, output(ctx, here.begin - mine.begin), spare(ctx), reduction_order_,
                 contribution, Combine{here.bytes() / element_bytes, reduction});
    });
  }
  // Computes the inclusive prefix reduction in rank order.
  template <context::Context Ctx>
  void scan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, {count, reduction}, plan, not_for_others(ctx, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(ctx, round, ctx.rank() + 1); });
  }
  // Computes the exclusive prefix reduction in rank order. Does not write to rank 0's output.
  template <context::Context Ctx>
  void exscan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, {count, reduction}, plan, not_for_others(ctx, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(ctx, round, ctx.rank()); });
  }

  // A rank sets its flag of round n after it has reduced round n - 2. So a rank that has seen all
  // flags of round n - 2 knows that all ranks have reduced round n - 4, and may reuse its slot of
  // that round for round n.
  static constexpr context::Sequence slots = 4;

 private:
  // The bytes `begin` to `end` - 1 of the input.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t bytes() const { return begin < end ? end - begin : 0; }
  };
  static Part common(const Part& a, const Part& b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
  }
  struct Round {
    context::Sequence number = 0;  // counted over the rounds of all calls
    std::size_t offset = 0;        // in the caller's buffers
    Combine what;
    memory::LineOwnership lines = memory::LineOwnership::readers_share;

    bool is_in_line() const { return fits_behind_flag(what.bytes()); }
    Part part() const { return {offset, offset + what.bytes()}; }
  };
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
           CombineRound combine) {
    const std::size_t most = plan.round_bytes / all.reduction.element_bytes;
    const std::size_t rounds = (all.count + most - 1) / most;
    const auto round = [&](std::size_t i) {
      return Round{first_ + static_cast<context::Sequence>(i) + 1,
                   i * most * all.reduction.element_bytes,
                   {std::min(most, all.count - i * most), all.reduction},
                   plan.method->ownership};
    };
    if (rounds > 0) show(ctx, round(0), unwanted, plan.method->in);
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i + 1 < rounds) show(ctx, round(i + 1), unwanted, plan.method->in);
      combine(round(i));
    }
    first_ += static_cast<context::Sequence>(rounds);
  }

  std::size_t slots_at() const { return lines_ * false_sharing_bytes; }
  Address line_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, (number & (lines_ - 1)) * false_sharing_bytes};
  }
  // With ping-pong, two ranks publish in slots that they have just read, in turn their own and the
  // other's.
  Address data_of(int shower, const Round& round) const {
    if (round.is_in_line()) return line_of(shower, round.number) + payload_offset;
    const int holder = holder_of(round.lines, shower, 1 - shower, round.number, slots);
    return {Region::shared, holder, slots_at() + round.number % slots * slot_stride_};
  }
  template <context::Context Ctx>
  static Address output(const Ctx& ctx, std::size_t offset) {
    return {Region::output, ctx.rank(), offset};
  }
  template <context::Context Ctx>
  Spare spare(const Ctx& ctx) const {
    return spare_of(ctx.rank(), slot_stride_);
  }

  template <context::Context Ctx>
  void show(Ctx& ctx, const Round& round, const Part& unwanted, memory::CopyKernel kernel) {
    make_room(ctx, round);
    const Part whole = round.part();
    for (const Part& part : {Part{whole.begin, std::min(whole.end, unwanted.begin)},
                             Part{std::max(whole.begin, unwanted.end), whole.end}}) {
      if (part.bytes() == 0) continue;
      ctx.copy(data_of(ctx.rank(), round) + at_in_slot(part.begin, round, unwanted),
               {Region::input, ctx.rank(), part.begin}, part.bytes(), kernel);
    }
    ctx.store_stamped(line_of(ctx.rank(), round.number), round.number);
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
      return shown(ctx, rank, round);
    };
  }
  template <context::Context Ctx>
  Address shown(Ctx& ctx, int rank, const Round& round) const {
    ctx.wait_stamped(line_of(rank, round.number), context::until_reached(round.number));
    return data_of(rank, round);
  }
  // Blocks until the round's slot or cache line may be reused. Because there are several cache
  // lines for flags, a rank may be several rounds ahead of the others, and checks their progress
  // only from time to time. A check takes about as long as a call.
  template <context::Context Ctx>
  void make_room(Ctx& ctx, const Round& round) {
    if (!round.is_in_line()) return see_all(ctx, round.number - 2);
    const context::Sequence last = round.number + 2 - lines_;
    if (!context::reached(seen_, last)) see_all(ctx, round.number - lines_ / 2);
  }
  // Blocks until all ranks have published this round.
  template <context::Context Ctx>
  void see_all(Ctx& ctx, context::Sequence number) {
    if (context::reached(seen_, number)) return;
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank != ctx.rank()) ctx.wait(line_of(rank, number), context::until_reached(number));
    }
    seen_ = number;
  }

  template <context::Context Ctx>
  void combine_all(Ctx& ctx, Address to, const Round& round) {
    fold_ranks(ctx, to, spare(ctx), reduction_order_, contributions(ctx, round), round.what);
    seen_ = round.number;
  }
  // Takes ownership of the others' contributions if the plan requires that. The writer of a line
  // with a flag keeps it.
  template <context::Context Ctx>
  void own_contributions(Ctx& ctx, const Round& round) const {
    if (round.lines != memory::LineOwnership::reader_takes || round.is_in_line()) return;
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank != ctx.rank()) ctx.own(data_of(rank, round), round.what.bytes());
    }
  }

  // Reduces in rank order instead of the team's reduction order, because a rank's result is a
  // prefix of the next rank's.
  template <context::Context Ctx>
  void combine_before(Ctx& ctx, const Round& round, int end) const {
    if (end == 0) return;
    fold_row(ctx, output(ctx, round.offset), spare(ctx).total, 0, end, contributions(ctx, round),
             round.what);
  }

  ReductionOrder reduction_order_;
  context::Sequence lines_;
  std::size_t slot_stride_;
  context::Sequence first_;  // number of rounds of all calls so far
  context::Sequence seen_;   // latest round that all ranks are known to have published
};

}  // namespace huddle::node
