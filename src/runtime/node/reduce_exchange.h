// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction in one step: everybody shows its contribution, and everybody joins those that it wants
// to have joined: all of them, those of the ranks before it, or its own block of all. More moves
// than in a tree, but nobody waits for anybody's result. For little data, which rides behind its
// flag, and for much among a few ranks: then in rounds, of which the next is shown before the one
// at hand is joined.
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
    context::Sequence lines = 16;  // for flags; a power of 2, so that they stay in step at the wrap
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // not over the capacity
    // Ping-pong only between two ranks; no reader takes ownership.
    memory::CopyMethod method = {};
  };

  // pre: the flags, at the beginning of shared memory, hold `start`.
  ExchangeReduce(const Parameters& parameters, const ReductionOrder& association,
                 context::Sequence start);

  std::size_t shared_bytes() const { return slots_at() + slots * slot_stride_; }
  std::size_t flags_bytes() const { return slots_at(); }
  std::size_t scratch_bytes() const { return spare_bytes(slot_stride_); }

  // All: pre: an element is not over round_bytes.
  template <context::Context W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, {}, [&](const Round& round) {
      fold_ranks(w, output(w, round.offset), spare(w), association_, contributions(w, round),
                 round.what);
      seen_ = round.number;
    });
  }
  // Each rank gets its block of what is joined; blocks are counted in elements, and follow each
  // other without gaps. pre: the output is not the input.
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
      fold_ranks(w, output(w, here.begin - mine.begin), spare(w), association_, contribution,
                 Join{here.bytes() / element_bytes, reduction});
    });
  }
  // What all ranks up to this one contribute, joined in their order.
  template <context::Context W>
  void scan(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, not_for_others(w, count * reduction.element_bytes),
        [&](const Round& round) { join_before(w, round, w.rank() + 1); });
  }
  // The same without this one's own. The first rank's output is left alone.
  template <context::Context W>
  void exscan(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, {count, reduction}, plan, not_for_others(w, count * reduction.element_bytes),
        [&](const Round& round) { join_before(w, round, w.rank()); });
  }

  // A flag is raised when its owner has joined the round two before: whoever has seen everybody's
  // flag of the round two before may fill the slot of the one four before again.
  static constexpr context::Sequence slots = 4;

 private:
  // Of the input, from one byte to another.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t bytes() const { return begin < end ? end - begin : 0; }
  };
  static Part common(const Part& a, const Part& b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
  }
  struct Round {
    context::Sequence number = 0;  // among the rounds of all calls
    std::size_t offset = 0;        // in the caller's buffers
    Join what;
    memory::LineOwnership lines = memory::LineOwnership::readers_share;

    bool is_in_line() const { return fits_behind_flag(what.bytes()); }
    Part part() const { return {offset, offset + what.bytes()}; }
  };
  // Of prefixes: nobody comes after the last rank.
  template <context::Context W>
  static Part not_for_others(const W& w, std::size_t bytes) {
    return w.rank() + 1 == w.ranks() ? Part{0, bytes} : Part{};
  }

  // join(round) waits for those alone whose contributions it wants: nobody waits for a rank after
  // it in a scan. What of the input nobody else wants is not shown, and the rest of its round moves
  // up: two ranks that want half each then use the same lines of a slot.
  template <context::Context W, class JoinRound>
  void run(W& w, const Join& all, const Plan& plan, const Part& unwanted, JoinRound join) {
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
      join(round(i));
    }
    first_ += static_cast<context::Sequence>(rounds);
  }

  std::size_t slots_at() const { return lines_ * apart_bytes; }
  Address line_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, (number & (lines_ - 1)) * apart_bytes};
  }
  // Two ranks may turn by turn show what they have in each other's slots, which they have just
  // read.
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
  // Where in a slot a byte of the input lies, of which so much is left out.
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
  // Lines allow a rank to be ahead of the others, who are asked now and then: to ask costs as much
  // as a call.
  template <context::Context W>
  void make_room(W& w, const Round& round) {
    if (!round.is_in_line()) return see_all(w, round.number - 2);
    const context::Sequence last = round.number + 2 - lines_;
    if (!context::reached(seen_, last)) see_all(w, round.number - lines_ / 2);
  }
  // That everybody has shown the round of this number.
  template <context::Context W>
  void see_all(W& w, context::Sequence number) {
    if (context::reached(seen_, number)) return;
    for (int rank = 0; rank < w.ranks(); ++rank) {
      if (rank != w.rank()) w.wait(line_of(rank, number), context::until_reached(number));
    }
    seen_ = number;
  }

  // In rank order, whatever the team's order for results of all is: a rank's result is part of the
  // next one's.
  template <context::Context W>
  void join_before(W& w, const Round& round, int end) const {
    if (end == 0) return;
    fold_row(w, output(w, round.offset), spare(w).total, 0, end, contributions(w, round),
             round.what);
  }

  ReductionOrder association_;
  context::Sequence lines_;
  std::size_t slot_stride_;
  context::Sequence first_;  // rounds of all calls so far
  context::Sequence seen_;   // of all ranks
};

}  // namespace huddle::node
