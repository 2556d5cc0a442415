// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flat exchange: each rank publishes its data in a slot of its own and reads from the slots of the
// others, so that a block for all ranks is written once, however many ranks read it. Used for
// allgather of any size, in rounds (the next round is published before the current one is read),
// and for all-to-all of small data, with one block for each reader in a slot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class SlotExchange {
 public:
  struct Parameters {
    std::size_t capacity_bytes = 16384;  // of a slot
  };
  // Order in which a rank visits the others.
  enum class Order : std::uint8_t {
    ring,               // rank + 1, rank + 2, ...; in each step, all ranks visit different ones
    neighbor_exchange,  // nearer ranks before farther ones, on both sides alternately
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // of a slot; at most the capacity
    Order order = Order::ring;
    // Line ownership may differ from readers_share only with two ranks; in an all-to-all the reader
    // does not take ownership.
    memory::CopyMethod method = {};
    memory::CopyKernel results = memory::CopyKernel::plain;  // kernel that writes the output
  };

  // Requires: all words of shared memory hold `start`.
  SlotExchange(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return slots * slot_stride_; }

  // Copies each rank's input to its block of every rank's output. `largest` is the size of the
  // largest block, equal on all ranks. If `in_place`, a rank's own block is not touched.
  template <context::Context Ctx>
  void allgather(Ctx& ctx, const Blocks& blocks, std::size_t largest, bool in_place,
                 const Plan& plan) {
    const Block own = blocks.of(ctx.rank());
    const std::size_t rounds = (largest + plan.round_bytes - 1) / plan.round_bytes;
    const auto round = [&](std::size_t i) {
      return Round{first_ + static_cast<context::Sequence>(i) + 1, i * plan.round_bytes,
                   plan.round_bytes};
    };
    if (rounds > 0) show(ctx, round(0), own, plan);
    if (!in_place) move_own(ctx, {0, own.bytes}, own, plan.results);
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i + 1 < rounds) show(ctx, round(i + 1), own, plan);
      take(ctx, round(i), blocks, plan);
    }
    first_ += static_cast<context::Sequence>(rounds);
  }

  // Exchanges a block of `bytes` bytes between each pair of ranks. If `in_place`, the input is the
  // output.
  // Requires: all blocks of a rank together fit into one round.
  template <context::Context Ctx>
  void alltoall(Ctx& ctx, std::size_t bytes, bool in_place, const Plan& plan) {
    const std::size_t all = bytes * static_cast<std::size_t>(ctx.ranks());
    const Address mine = slot_of(ctx.rank(), ++first_, plan);
    const Blocks blocks = Blocks::even(bytes);
    const Block own = blocks.of(ctx.rank());
    show_all_but(ctx, own, mine, all, plan);
    ctx.store_stamped(mine, first_);
    if (!in_place) move_own(ctx, own, own, plan.results);
    for (const int owner : visits(plan.order)) {
      const Address slot = slot_of(owner, first_, plan);
      ctx.wait_stamped(slot, context::until_reached(first_));
      const std::size_t left_out = shows_own(all) || ctx.rank() < owner ? 0 : bytes;
      const auto own_at = static_cast<std::size_t>(own.offset) - left_out;
      ctx.copy(output(ctx, blocks.of(owner).offset), slot + payload_at(all) + own_at, bytes,
               plan.results);
    }
  }

  // A rank publishes round n after it has seen all flags of round n - 2, and each of those was set
  // after its owner had read round n - 4. Therefore four slots suffice. The first round of a call
  // is published after the last round of the previous call was read.
  static constexpr context::Sequence slots = 4;

  // Returns the order in which `rank` visits the others.
  static std::vector<int> visits(Order order, int rank, int ranks);

 private:
  struct Round {
    context::Sequence number = 0;  // counted over the rounds of all calls
    std::size_t from = 0;          // offset in each block
    std::size_t most = 0;

    std::size_t bytes_of(const Block& block) const { return in_piece(block.bytes, from, most); }
  };

  // With ping-pong, two ranks publish in slots that they have just read, in turn their own and the
  // other's.
  Address slot_of(int shower, context::Sequence number, const Plan& plan) const {
    const int holder = holder_of(plan.method->ownership, shower, 1 - shower, number, slots);
    return {Region::shared, holder, number % slots * slot_stride_};
  }
  template <context::Context Ctx>
  static Address output(const Ctx& ctx, std::ptrdiff_t offset) {
    return {Region::output, ctx.rank(), static_cast<std::size_t>(offset)};
  }
  const std::vector<int>& visits(Order order) const {
    return order == Order::ring ? ring_ : neighbors_;
  }

  template <context::Context Ctx>
  void show(Ctx& ctx, const Round& round, const Block& own, const Plan& plan) {
    const Address mine = slot_of(ctx.rank(), round.number, plan);
    const std::size_t bytes = round.bytes_of(own);
    if (bytes > 0) {
      ctx.copy(mine + payload_at(bytes), {Region::input, ctx.rank(), round.from}, bytes,
               plan.method->in);
    }
    ctx.store_stamped(mine, round.number);
  }

  // Returns whether a rank also publishes its block for itself. It does if all blocks fit into the
  // flag's cache line, which is transferred as a whole. Otherwise it leaves this block out and
  // moves the rest up, so that two ranks use the same cache lines of a slot.
  static bool shows_own(std::size_t all) { return fits_behind_flag(all); }
  template <context::Context Ctx>
  static void show_all_but(Ctx& ctx, const Block& own, Address mine, std::size_t all,
                           const Plan& plan) {
    const auto show_part = [&](std::size_t at, std::size_t begin, std::size_t end) {
      if (begin == end) return;
      ctx.copy(mine + payload_at(all) + at, {Region::input, ctx.rank(), begin}, end - begin,
               plan.method->in);
    };
    const auto own_at = static_cast<std::size_t>(own.offset);
    if (shows_own(all)) return show_part(0, 0, all);
    show_part(0, 0, own_at);
    show_part(own_at, own_at + own.bytes, all);
  }

  // Waits for all ranks even if they have no data in this round, because this rank's next
  // publication implies that it has seen all flags.
  template <context::Context Ctx>
  void take(Ctx& ctx, const Round& round, const Blocks& blocks, const Plan& plan) {
    for (const int owner : visits(plan.order)) {
      const Address slot = slot_of(owner, round.number, plan);
      ctx.wait_stamped(slot, context::until_reached(round.number));
      const Block block = blocks.of(owner);
      const std::size_t bytes = round.bytes_of(block);
      if (bytes == 0) continue;
      copy_out(ctx, output(ctx, block.offset) + round.from, slot + payload_at(bytes), bytes,
               plan.method, plan.results);
    }
  }

  std::size_t slot_stride_;
  std::vector<int> ring_;
  std::vector<int> neighbors_;
  context::Sequence first_;  // number of rounds of all calls so far
};

}  // namespace huddle::node
