// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy reduction of large data: each rank reduces one slice of all ranks' data, block by
// block, directly from the owners' memory. If that memory cannot be mapped, a block is first read
// into scratch that fits into a near cache.
//
// In an allreduce each rank reduces its slice in its own output; the others read it there, or it
// writes the result to their outputs block by block. Both work in place, because no other rank
// reads the input that a result replaces, and the result is stored only after the reducing rank has
// read that input. If only the root receives the result, the others have no output: they reduce in
// the root's output or, if they cannot reach it, in shared memory that the root reads.
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
    std::size_t block_bytes = 131072;  // maximum bytes read at a time
    int cells = 2;                     // blocks in flight to a root, per rank
  };
  // Results of an allreduce are either read by the other ranks or written by the reducing rank.
  enum class Results : std::uint8_t { are_read, are_written };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t block_bytes = 65536;  // at most that of the parameters
    Results results = Results::are_read;
  };

  // Requires: shared memory holds `start` everywhere.
  DirectReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
               context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  // Room for two blocks that were read, and for partial results.
  std::size_t scratch_bytes() const { return 2 * block_bytes_ + spare_bytes(block_bytes_); }

  // The collectives below throw context::PathFailed on all ranks if a rank could not read a peer's
  // memory.
  // Requires: an element is at most `plan.block_bytes`.
  template <context::SingleCopyContext W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    const Slices slices{{count, w.ranks()}, reduction.element_bytes};
    exposures_.call(w, [&] {
      exposures_.show(w, results, {Region::output, w.rank(), 0});
      begin(w);
      const std::size_t mine = slices.offset(w.rank());
      combine_all(w, mine, {Region::output, w.rank(), mine}, {slices.elements(w.rank()), reduction},
                  plan, [&](std::size_t from, std::size_t bytes) {
                    if (plan.results == Results::are_written) write_result(w, mine + from, bytes);
                  });
      combined_.publish(w, rounds_ + 1);
      if (plan.results == Results::are_read) read_results(w, slices);
      end(w, 1);
    });
  }

  // Reduces to the root, which alone has an output.
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
        combine_part(w, part, root, reduction);
        if (fetches) fetch(w, part);
      }
      end(w, rounds);
    });
  }

  // Stores each rank's block of the result at the beginning of its output. `blocks` are counted in
  // elements. Does not work in place.
  template <context::SingleCopyContext W>
  void reduce_scatter(W& w, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    const Block mine = blocks.of(w.rank());
    exposures_.call(w, [&] {
      begin(w);
      combine_all(w, static_cast<std::size_t>(mine.offset) * reduction.element_bytes,
                  {Region::output, w.rank(), 0}, {mine.bytes, reduction}, plan,
                  [](std::size_t, std::size_t) {});
      end(w, 0);
    });
  }

 private:
  // Numbers of the places that a rank exposes.
  static constexpr int data = 0;
  static constexpr int results = 1;

  // Thrown if a contribution could not be read, because then nothing may be reduced.
  struct Unread {};

  // Assigns one slice to each rank.
  struct Slices : EvenCut {
    std::size_t element_bytes;

    std::size_t offset(int slice) const { return begin(slice) * element_bytes; }
  };

  // The same part of each slice.
  struct Part {
    const Slices& slices;
    std::size_t from;  // first element within the slice
    std::size_t most;
    context::Sequence number;  // counted over the rounds of all calls

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
  // Ranks that fetch nothing publish the same progress as the root, for later calls.
  template <context::SingleCopyContext W>
  void end(W& w, context::Sequence rounds) {
    rounds_ += rounds;
    fetched_.publish(w, rounds_);
  }

  // Copies the slices that the other ranks have reduced.
  template <context::SingleCopyContext W>
  void read_results(W& w, const Slices& slices) {
    for (int step = 1; step < w.ranks(); ++step) {
      const int slice = (w.rank() + step) % w.ranks();
      if (slices.elements(slice) == 0) continue;
      combined_.wait_for(w, slice, rounds_ + 1);
      const std::size_t at = slices.offset(slice);
      (void)exposures_.pull(w, slice, results, {Region::output, w.rank(), at}, at,
                            slices.elements(slice) * slices.element_bytes);
    }
  }

  // Writes a result of this rank to every other rank's output.
  template <context::SingleCopyContext W>
  void write_result(W& w, std::size_t at, std::size_t bytes) {
    for (int step = 1; step < w.ranks(); ++step) {
      const int other = (w.rank() + step) % w.ranks();
      (void)exposures_.push(w, other, results, at, {Region::output, w.rank(), at}, bytes);
    }
  }

  // Reduces the data at `offset` bytes into all ranks' inputs into `to`, block by block. Calls
  // `joined(from, bytes)` after each block.
  template <context::SingleCopyContext W, class Combined>
  void combine_all(W& w, std::size_t offset, Address to, const Combine& all, const Plan& plan,
                   Combined combined) {
    const std::size_t most = most_elements(plan, all.reduction);
    for (std::size_t from = 0; from < all.count; from += most) {
      const std::size_t at = from * all.reduction.element_bytes;
      const Combine block{std::min(most, all.count - from), all.reduction};
      combine(w, offset + at, to + at, block);
      combined(at, block.bytes());
    }
  }

  template <context::SingleCopyContext W>
  void combine(W& w, std::size_t offset, Address to, const Combine& how) {
    const auto contribution = [&](int rank) {
      if (rank == w.rank()) return Address{Region::input, rank, offset};
      if (const auto theirs = exposures_.reach(w, rank, data)) return *theirs + offset;
      const Address block = pulled_at(w.rank(), rank);
      if (!exposures_.pull_shown(w, rank, data, block, offset, how.bytes())) throw Unread{};
      return block;
    };
    try {
      exposures_.with_all(w, [&] {
        fold_ranks(w, to, spare_of(w.rank(), block_bytes_), reduction_order_, contribution, how);
      });
    } catch (const Unread&) {
      // The failure is reported to all ranks at the end of the call.
    }
  }

  template <context::SingleCopyContext W>
  void combine_part(W& w, const Part& part, int root, const memory::Reduction& reduction) {
    const int mine = w.rank();
    const Address to = result_of(w, part, root);
    if (part.elements(mine) > 0) {
      combine(w, part.offset(mine), to, {part.elements(mine), reduction});
    }
    combined_.publish(w, part.number + 1);
  }
  // Returns where this rank stores its share of a part for the root. A cell is free again once the
  // root has fetched its content.
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
      combined_.wait_for(w, slice, part.number + 1);
      if (part.elements(slice) == 0) continue;
      w.copy({Region::output, w.rank(), part.offset(slice)}, cell_of(slice, part.number),
             part.bytes(slice), memory::CopyKernel::plain);
    }
    fetched_.publish(w, part.number + 1);
  }

  // Two buffers alternate, because a block is combined with the one before it.
  Address pulled_at(int mine, int rank) const {
    const std::size_t number = rank % 2 == 0 ? 0 : 1;
    return Address{Region::scratch, mine, spare_bytes(block_bytes_)} + number * block_bytes_;
  }
  Address cell_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, cells_offset_ + number % cells_ * block_bytes_};
  }

  ReductionOrder reduction_order_;
  std::size_t block_bytes_;
  context::Sequence cells_;
  SharedLayout carver_;
  ExposedBuffers exposures_;
  Counters combined_;
  Counters fetched_;
  std::size_t cells_offset_;
  context::Sequence rounds_;  // over all calls so far
};

}  // namespace huddle::node
