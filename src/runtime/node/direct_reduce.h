// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of much data without copying it into shared memory: each rank joins one slice of
// everybody's data, block by block: straight where its owner has it, or, where it cannot be
// reached, read from there into scratch that fits a near cache.
//
// Where all want the result, each joins its slice in its own output, and the others read it there,
// or it writes it to theirs, block by block. Either may be in place: nobody else reads what a
// result replaces, and it takes that one's place when whoever joined it has read it. Where the root
// alone wants it the others have no output: they join in the root's, or, where they cannot reach
// it, it fetches their blocks out of shared memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/node/blocks.h"
#include "runtime/node/exposures.h"
#include "runtime/node/reduction_order.h"
#include "runtime/node/slices.h"

namespace huddle::node {

class DirectReduce {
 public:
  struct Parameters {
    std::size_t block_bytes = 131072;  // the most that is read at a time
    int cells = 2;                     // blocks that have room on their way to a root
  };
  // Who brings an allreduce's results to those who have not joined them.
  enum class Results : std::uint8_t { are_read, are_written };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t block_bytes = 65536;  // not over that of the parameters
    Results results = Results::are_read;
  };

  // pre: shared memory holds `start` everywhere.
  DirectReduce(const Parameters& parameters, const ReductionOrder& association,
               context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  // Two blocks that were read, and what is joined.
  std::size_t scratch_bytes() const { return 2 * block_bytes_ + spare_bytes(block_bytes_); }

  // All: pre: an element is not over the plan's block_bytes. Throw context::PathFailed on all ranks
  // where one could not read.

  template <context::SingleCopyContext W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    const Slices slices{{count, w.ranks()}, reduction.element_bytes};
    exposures_.call(w, [&] {
      exposures_.show(w, results, {Region::output, w.rank(), 0});
      begin(w);
      const std::size_t mine = slices.offset(w.rank());
      join_all(w, mine, {Region::output, w.rank(), mine}, {slices.elements(w.rank()), reduction},
               plan, [&](std::size_t from, std::size_t bytes) {
                 if (plan.results == Results::are_written) write_result(w, mine + from, bytes);
               });
      joined_.publish(w, rounds_ + 1);
      if (plan.results == Results::are_read) read_results(w, slices);
      end(w, 1);
    });
  }

  // Only the root has an output.
  template <context::SingleCopyContext W>
  void reduce(W& w, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    const Slices slices{{count, w.ranks()}, reduction.element_bytes};
    const std::size_t most = most_elements(plan, reduction);
    const std::size_t largest =
        (count + static_cast<std::size_t>(w.ranks()) - 1) / static_cast<std::size_t>(w.ranks());
    const auto rounds = static_cast<context::Sequence>((largest + most - 1) / most);
    exposures_.call(w, [&] {
      bool fetches = false;
      if (w.rank() == root) fetches = !exposures_.show(w, results, {Region::output, root, 0});
      begin(w);
      for (context::Sequence round = 0; round < rounds; ++round) {
        const Part part{slices, round * most, most, rounds_ + round};
        join_part(w, part, root, reduction);
        if (fetches) fetch(w, part);
      }
      end(w, rounds);
    });
  }

  // Each rank is to have one block of the result, of so many elements, at the beginning of its
  // output. Not in place.
  template <context::SingleCopyContext W>
  void reduce_scatter(W& w, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    const Block mine = blocks.of(w.rank());
    exposures_.call(w, [&] {
      begin(w);
      join_all(w, static_cast<std::size_t>(mine.offset) * reduction.element_bytes,
               {Region::output, w.rank(), 0}, {mine.bytes, reduction}, plan,
               [](std::size_t, std::size_t) {});
      end(w, 0);
    });
  }

 private:
  // What a rank shows.
  static constexpr int data = 0;
  static constexpr int results = 1;

  // Thrown where a contribution could not be read: nothing is to be joined then.
  struct Unread {};

  // Who joins what.
  struct Slices : EvenCut {
    std::size_t element_bytes;

    std::size_t offset(int slice) const { return begin(slice) * element_bytes; }
  };

  // The same part of each slice.
  struct Part {
    const Slices& slices;
    std::size_t from;  // elements of a slice
    std::size_t most;
    context::Sequence number;  // among the rounds of all calls

    std::size_t elements(int slice) const { return in_piece(slices.elements(slice), from, most); }
    std::size_t bytes(int slice) const { return elements(slice) * slices.element_bytes; }
    std::size_t offset(int slice) const {
      return slices.offset(slice) + from * slices.element_bytes;
    }
  };

  static std::size_t most_elements(const Plan& plan, const memory::Reduction& reduction) {
    return plan.block_bytes / reduction.element_bytes;
  }

  template <context::SingleCopyContext W>
  void begin(W& w) {
    exposures_.show(w, data, {Region::input, w.rank(), 0});
    exposures_.publish(w);
  }
  // Who does not fetch is as far as whoever does, for the calls to come.
  template <context::SingleCopyContext W>
  void end(W& w, context::Sequence rounds) {
    rounds_ += rounds;
    fetched_.publish(w, rounds_);
  }

  // What the others have joined.
  template <context::SingleCopyContext W>
  void read_results(W& w, const Slices& slices) {
    for (int step = 1; step < w.ranks(); ++step) {
      const int slice = (w.rank() + step) % w.ranks();
      if (slices.elements(slice) == 0) continue;
      joined_.wait_for(w, slice, rounds_ + 1);
      const std::size_t at = slices.offset(slice);
      (void)exposures_.pull(w, slice, results, {Region::output, w.rank(), at}, at,
                            slices.elements(slice) * slices.element_bytes);
    }
  }

  // What this rank has joined, to where everybody else wants it.
  template <context::SingleCopyContext W>
  void write_result(W& w, std::size_t at, std::size_t bytes) {
    for (int step = 1; step < w.ranks(); ++step) {
      const int other = (w.rank() + step) % w.ranks();
      (void)exposures_.push(w, other, results, at, {Region::output, w.rank(), at}, bytes);
    }
  }

  // What lies so far into everybody's data, joined to `to`, block by block; `joined(from, bytes)`
  // is told of each.
  template <context::SingleCopyContext W, class Joined>
  void join_all(W& w, std::size_t offset, Address to, const Join& all, const Plan& plan,
                Joined joined) {
    const std::size_t most = most_elements(plan, all.reduction);
    for (std::size_t from = 0; from < all.count; from += most) {
      const std::size_t at = from * all.reduction.element_bytes;
      const Join block{std::min(most, all.count - from), all.reduction};
      join(w, offset + at, to + at, block);
      joined(at, block.bytes());
    }
  }

  template <context::SingleCopyContext W>
  void join(W& w, std::size_t offset, Address to, const Join& how) {
    const auto contribution = [&](int rank) {
      if (rank == w.rank()) return Address{Region::input, rank, offset};
      if (const auto theirs = exposures_.reach(w, rank, data)) return *theirs + offset;
      const Address block = pulled_at(w.rank(), rank);
      if (!exposures_.pull_shown(w, rank, data, block, offset, how.bytes())) throw Unread{};
      return block;
    };
    try {
      exposures_.with_all(w, [&] {
        fold_ranks(w, to, spare_of(w.rank(), block_bytes_), association_, contribution, how);
      });
    } catch (const Unread&) {
      // Told to all at the end of the call.
    }
  }

  template <context::SingleCopyContext W>
  void join_part(W& w, const Part& part, int root, const memory::Reduction& reduction) {
    const int mine = w.rank();
    const Address to = result_of(w, part, root);
    if (part.elements(mine) > 0) {
      join(w, part.offset(mine), to, {part.elements(mine), reduction});
    }
    joined_.publish(w, part.number + 1);
  }
  // Where this rank's share of a part is to be, for the root. A cell is there again when the root
  // has fetched what was in it.
  template <context::SingleCopyContext W>
  Address result_of(W& w, const Part& part, int root) {
    const std::size_t at = part.offset(w.rank());
    if (w.rank() == root) return {Region::output, root, at};
    if (const auto theirs = exposures_.reach(w, root, results)) return *theirs + at;
    fetched_.wait_for(w, root, part.number + 1 - cells_);
    return cell_of(w.rank(), part.number);
  }

  template <context::SingleCopyContext W>
  void fetch(W& w, const Part& part) {
    for (int step = 1; step < w.ranks(); ++step) {
      const int slice = (w.rank() + step) % w.ranks();
      joined_.wait_for(w, slice, part.number + 1);
      if (part.elements(slice) == 0) continue;
      w.copy({Region::output, w.rank(), part.offset(slice)}, cell_of(slice, part.number),
             part.bytes(slice), memory::CopyKernel::plain);
    }
    fetched_.publish(w, part.number + 1);
  }

  // In turns: a block is joined to the one before it.
  Address pulled_at(int mine, int rank) const {
    const std::size_t number = rank % 2 == 0 ? 0 : 1;
    return Address{Region::scratch, mine, spare_bytes(block_bytes_)} + number * block_bytes_;
  }
  Address cell_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, cells_offset_ + number % cells_ * block_bytes_};
  }

  ReductionOrder association_;
  std::size_t block_bytes_;
  context::Sequence cells_;
  SharedLayout carver_;
  ExposedBuffers exposures_;
  Counters joined_;
  Counters fetched_;
  std::size_t cells_offset_;
  context::Sequence rounds_;  // of all calls so far
};

}  // namespace huddle::node
