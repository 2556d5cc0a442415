// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flat reduction: each rank publishes its input and reduces the contributions that it needs: all of
// them, those of the ranks before it, or its own block of all. This moves more data than a tree,
// but no rank waits for an intermediate result of another one. Serves small data, which is stored
// behind its flag, and large data of a few ranks. Large data is processed in rounds, and the next
// round is published before the current one is reduced.
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
    // for flags; a power of 2, so that indices stay consistent when counters wrap
    context::Sequence lines = 16;
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // at most the capacity
    // Ping-pong only between two ranks; readers do not take ownership.
    memory::CopyMethod method = {};
  };

  // Requires: the flags, at the beginning of shared memory, hold `start`.
  ExchangeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                 context::Sequence start);

  std::size_t shared_bytes() const { return slots_at() + slots * slot_stride_; }
  std::size_t flags_bytes() const { return slots_at(); }
  std::size_t scratch_bytes() const { return spare_bytes(slot_stride_); }

  // The collectives below require that an element is at most `plan.round_bytes`.
  template <context::Context W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, {}, [&](const Round& round) {
      fold_ranks(w, output(w, round.offset), spare(w), reduction_order_, contributions(w, round),
                 round.what);
      seen_ = round.number;
    });
  }
  // Stores each rank's block of the result in its output. Blocks are counted in elements and are
  // contiguous.
  // Requires: the output is not the input.
  template <context::Context W>
  void reduce_scatter(W& w, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    const std::size_t element_bytes = reduction.element_bytes;
    const auto part_of = [&](int rank) {
      const Block block = blocks.of(rank);
      const std::size_t begin = static_cast<std::size_t>(block.offset) * element_bytes;
      return Part{begin, begin + block.bytes * element_bytes};
    };
    const Part mine = part_of(w.rank());
    run(w, {blocks.total(w.ranks()), reduction}, plan, mine, [&](const Round& round) {
      const Part here = common(round.part(), mine);
      if (here.bytes() == 0) return;
      const auto contribution = [&](int rank) {
        if (rank == w.rank()) return Address{Region::input, rank, here.begin};
        return shown(w, rank, round) + at_in_slot(here.begin, round, part_of(rank));
      };
      fold_ranks(w, output(w, here.begin - mine.begin), spare(w), reduction_order_, contribution,
                 Combine{here.bytes() / element_bytes, reduction});
    });
  }
  // Inclusive prefix reduction in rank order.
  template <context::Context W>
  void scan(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, not_for_others(w, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(w, round, w.rank() + 1); });
  }
  // Exclusive prefix reduction in rank order. Does not write the first rank's output.
  template <context::Context W>
  void exscan(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, not_for_others(w, count * reduction.element_bytes),
        [&](const Round& round) { combine_before(w, round, w.rank()); });
  }

  // A rank raises a flag after it has reduced the round two before. So a rank that has seen all
  // flags of the round two before may refill the slot of the round four before.
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
  // In prefix reductions no other rank needs the input of the last rank.
  template <context::Context W>
  static Part not_for_others(const W& w, std::size_t bytes) {
    return w.rank() + 1 == w.ranks() ? Part{0, bytes} : Part{};
  }

  // Publishes all rounds and calls `join(round)` for each. `join` waits only for the ranks whose
  // contributions it needs, so a scan does not wait for the ranks after the caller. The part of the
  // input that no other rank needs (`unwanted`) is not published, and the rest of its round moves
  // up, so that two ranks that need one half each use the same cache lines of a slot.
  template <context::Context W, class CombineRound>
  void run(W& w, const Combine& all, const Plan& plan, const Part& unwanted, CombineRound combine) {
    const std::size_t most = plan.round_bytes / all.reduction.element_bytes;
    const std::size_t rounds = (all.count + most - 1) / most;
    const auto round = [&](std::size_t i) {
      return Round{first_ + static_cast<context::Sequence>(i) + 1,
                   i * most * all.reduction.element_bytes,
                   {std::min(most, all.count - i * most), all.reduction},
                   plan.method->ownership};
    };
    if (rounds > 0) show(w, round(0), unwanted, plan.method->in);
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i + 1 < rounds) show(w, round(i + 1), unwanted, plan.method->in);
      combine(round(i));
    }
    first_ += static_cast<context::Sequence>(rounds);
  }

  std::size_t slots_at() const { return lines_ * apart_bytes; }
  Address line_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, (number & (lines_ - 1)) * apart_bytes};
  }
  // Two ranks may alternately publish in each other's slots, which they have just read.
  Address data_of(int shower, const Round& round) const {
    if (round.is_in_line()) return line_of(shower, round.number) + payload_offset;
    const int holder = holder_of(round.lines, shower, 1 - shower, round.number, slots);
    return {Region::shared, holder, slots_at() + round.number % slots * slot_stride_};
  }
  template <context::Context W>
  static Address output(const W& w, std::size_t offset) {
    return {Region::output, w.rank(), offset};
  }
  template <context::Context W>
  Spare spare(const W& w) const {
    return spare_of(w.rank(), slot_stride_);
  }

  template <context::Context W>
  void show(W& w, const Round& round, const Part& unwanted, memory::CopyKernel kernel) {
    make_room(w, round);
    const Part whole = round.part();
    for (const Part& part : {Part{whole.begin, std::min(whole.end, unwanted.begin)},
                             Part{std::max(whole.begin, unwanted.end), whole.end}}) {
      if (part.bytes() == 0) continue;
      w.copy(data_of(w.rank(), round) + at_in_slot(part.begin, round, unwanted),
             {Region::input, w.rank(), part.begin}, part.bytes(), kernel);
    }
    w.store_stamped(line_of(w.rank(), round.number), round.number);
  }
  // Returns the offset in a slot of a byte of the input, given the part that is left out.
  static std::size_t at_in_slot(std::size_t byte, const Round& round, const Part& left_out) {
    return byte - round.offset - common({round.offset, byte}, left_out).bytes();
  }

  template <context::Context W>
  auto contributions(W& w, const Round& round) const {
    return [this, &w, &round](int rank) {
      if (rank == w.rank()) return Address{Region::input, rank, round.offset};
      return shown(w, rank, round);
    };
  }
  template <context::Context W>
  Address shown(W& w, int rank, const Round& round) const {
    w.wait_stamped(line_of(rank, round.number), context::until_reached(round.number));
    return data_of(rank, round);
  }
  // Because flags occupy several cache lines, a rank may be ahead of the others and reads their
  // progress only from time to time. Each such read costs about the same as a call.
  template <context::Context W>
  void make_room(W& w, const Round& round) {
    if (!round.is_in_line()) return see_all(w, round.number - 2);
    const context::Sequence last = round.number + 2 - lines_;
    if (!context::reached(seen_, last)) see_all(w, round.number - lines_ / 2);
  }
  // Blocks until all ranks have published this round.
  template <context::Context W>
  void see_all(W& w, context::Sequence number) {
    if (context::reached(seen_, number)) return;
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank != w.rank()) w.wait(line_of(rank, number), context::until_reached(number));
    }
    seen_ = number;
  }

  // Reduces in rank order, whatever the team's order for full results is, because a rank's result
  // is a prefix of the next rank's.
  template <context::Context W>
  void combine_before(W& w, const Round& round, int end) const {
    if (end == 0) return;
    fold_row(w, output(w, round.offset), spare(w).total, 0, end, contributions(w, round),
             round.what);
  }

  ReductionOrder reduction_order_;
  context::Sequence lines_;
  std::size_t slot_stride_;
  context::Sequence first_;  // rounds of all calls so far
  context::Sequence seen_;   // round that all ranks are known to have published
};

}  // namespace huddle::node
