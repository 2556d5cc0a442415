// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Everybody shows what it has in a slot of its own, and everybody takes from all slots: a block for
// all is written once, however many read it. For allgather of any size, in rounds, of which the
// next is shown before the one at hand is taken; for all-to-all of little data, where a slot holds
// a block for each reader.
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
  // In which order a rank visits the others.
  enum class Order : std::uint8_t {
    ring,               // the next one, the one after that, ...: no two ranks visit the same one
    neighbor_exchange,  // nearer ones before farther ones, to both sides in turn
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;  // of a slot; not over the capacity
    Order order = Order::ring;
    // Between two ranks alone it may be other than shared by its readers; of an all-to-all the
    // reader does not take ownership.
    memory::CopyMethod method = {};
    memory::CopyKernel results = memory::CopyKernel::plain;  // by which they are written
  };

  // pre: shared memory holds `start` everywhere.
  SlotExchange(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return slots * slot_stride_; }

  // What each rank's input holds, to where the blocks of everybody's output are. `largest`: of the
  // blocks, which all ranks know. This rank's own is not touched in place.
  template <context::Context W>
  void allgather(W& w, const Blocks& blocks, std::size_t largest, bool in_place, const Plan& plan) {
    const Block own = blocks.of(w.rank());
    const std::size_t rounds = (largest + plan.round_bytes - 1) / plan.round_bytes;
    const auto round = [&](std::size_t i) {
      return Round{first_ + static_cast<context::Sequence>(i) + 1, i * plan.round_bytes,
                   plan.round_bytes};
    };
    if (rounds > 0) show(w, round(0), own, plan);
    if (!in_place) move_own(w, {0, own.bytes}, own, plan.results);
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i + 1 < rounds) show(w, round(i + 1), own, plan);
      take(w, round(i), blocks, plan);
    }
    first_ += static_cast<context::Sequence>(rounds);
  }

  // A block of so many bytes from everybody for everybody. pre: all of a rank's fit into a round.
  // In place the input is the output.
  template <context::Context W>
  void alltoall(W& w, std::size_t bytes, bool in_place, const Plan& plan) {
    const std::size_t all = bytes * static_cast<std::size_t>(w.ranks());
    const Address mine = slot_of(w.rank(), ++first_, plan);
    const Blocks blocks = Blocks::even(bytes);
    const Block own = blocks.of(w.rank());
    show_all_but(w, own, mine, all, plan);
    w.store_stamped(mine, first_);
    if (!in_place) move_own(w, own, own, plan.results);
    for (const int owner : visits(plan.order)) {
      const Address slot = slot_of(owner, first_, plan);
      w.wait_stamped(slot, context::until_reached(first_));
      const std::size_t left_out = shows_own(all) || w.rank() < owner ? 0 : bytes;
      const auto own_at = static_cast<std::size_t>(own.offset) - left_out;
      w.copy(output(w, blocks.of(owner).offset), slot + payload_at(all) + own_at, bytes,
             plan.results);
    }
  }

  // A rank shows a round when it has seen everybody's flag of the round two before, and that was
  // raised when its owner had taken the one two before that: four slots are enough. The first round
  // of a call comes after the last one of the call before was taken, which is later still.
  static constexpr context::Sequence slots = 4;

  // In which order `rank` visits the others.
  static std::vector<int> visits(Order order, int rank, int ranks);

 private:
  struct Round {
    context::Sequence number = 0;  // among the rounds of all calls
    std::size_t from = 0;          // in each block
    std::size_t most = 0;

    std::size_t bytes_of(const Block& block) const { return in_piece(block.bytes, from, most); }
  };

  // Two ranks may turn by turn show what they have in each other's slots, which they have just
  // read.
  Address slot_of(int shower, context::Sequence number, const Plan& plan) const {
    const int holder = holder_of(plan.method->ownership, shower, 1 - shower, number, slots);
    return {Region::shared, holder, number % slots * slot_stride_};
  }
  template <context::Context W>
  static Address output(const W& w, std::ptrdiff_t offset) {
    return {Region::output, w.rank(), static_cast<std::size_t>(offset)};
  }
  const std::vector<int>& visits(Order order) const {
    return order == Order::ring ? ring_ : neighbors_;
  }

  template <context::Context W>
  void show(W& w, const Round& round, const Block& own, const Plan& plan) {
    const Address mine = slot_of(w.rank(), round.number, plan);
    const std::size_t bytes = round.bytes_of(own);
    if (bytes > 0) {
      w.copy(mine + payload_at(bytes), {Region::input, w.rank(), round.from}, bytes,
             plan.method->in);
    }
    w.store_stamped(mine, round.number);
  }

  // What is in the flag's line comes with it, wanted or not. Else what nobody wants is left out,
  // and the rest moves up: two ranks then use the same lines of a slot.
  static bool shows_own(std::size_t all) { return fits_behind_flag(all); }
  template <context::Context W>
  static void show_all_but(W& w, const Block& own, Address mine, std::size_t all,
                           const Plan& plan) {
    const auto show_part = [&](std::size_t at, std::size_t begin, std::size_t end) {
      if (begin == end) return;
      w.copy(mine + payload_at(all) + at, {Region::input, w.rank(), begin}, end - begin,
             plan.method->in);
    };
    const auto own_at = static_cast<std::size_t>(own.offset);
    if (shows_own(all)) return show_part(0, 0, all);
    show_part(0, 0, own_at);
    show_part(own_at, own_at + own.bytes, all);
  }

  // Also where there is nothing to take: whoever shows next counts on this rank's having seen all.
  template <context::Context W>
  void take(W& w, const Round& round, const Blocks& blocks, const Plan& plan) {
    for (const int owner : visits(plan.order)) {
      const Address slot = slot_of(owner, round.number, plan);
      w.wait_stamped(slot, context::until_reached(round.number));
      const Block block = blocks.of(owner);
      const std::size_t bytes = round.bytes_of(block);
      if (bytes == 0) continue;
      copy_out(w, output(w, block.offset) + round.from, slot + payload_at(bytes), bytes,
               plan.method, plan.results);
    }
  }

  std::size_t slot_stride_;
  std::vector<int> ring_;
  std::vector<int> neighbors_;
  context::Sequence first_;  // rounds of all calls so far
};

}  // namespace huddle::node
