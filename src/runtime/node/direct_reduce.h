// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy reduction of large data: each rank reduces one slice of all ranks' data, block by
// block, directly from the owners' memory. If that memory cannot be mapped, each block is first
// copied to scratch memory that fits into a private cache.
//
// In an allreduce each rank stores the result of its slice in its own output; the other ranks read
// it there, or it writes the result to their outputs block by block. Both work in place, because
// only the reducing rank reads the inputs that the result replaces, and it does so before it stores
// the result. If only the root receives the result, the other ranks have no output: they store
// their results in the root's output. If they cannot map it, they write each block there, or store
// it in shared memory, from which the root copies it.
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
  // Results that do not go to mapped memory are either read by the ranks that need them or written
  // by the reducing rank.
  enum class Results : std::uint8_t { are_read, are_written };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t block_bytes = 65536;  // at most that of the parameters
    Results results = Results::are_read;
  };

  // Requires: all words of shared memory hold `start`.
  DirectReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
               context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }
  // Room for two blocks that were read, and for partial results.
  std::size_t scratch_bytes() const { return 2 * block_bytes_ + spare_bytes(block_bytes_); }

  // The collectives below throw context::PathFailed on all ranks if a rank could not access a
  // peer's memory.
  // Requires: an element has at most `plan.block_bytes` bytes.
  template <context::SingleCopyContext Ctx>
  void allreduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction,
                 const Plan& plan) {
    const Slices slices{{count, ctx.ranks()}, reduction.element_bytes};
    exposures_.call(ctx, [&] {
      exposures_.show(ctx, results, {Region::output, ctx.rank(), 0});
      begin(ctx);
      const std::size_t mine = slices.offset(ctx.rank());
      combine_all(ctx, mine, {Region::output, ctx.rank(), mine},
                  {slices.elements(ctx.rank()), reduction}, plan,
                  [&](std::size_t from, std::size_t bytes) {
                    if (plan.results == Results::are_written) write_result(ctx, mine + from, bytes);
                  });
      combined_.publish(ctx, rounds_ + 1);
      if (plan.results == Results::are_read) read_results(ctx, slices);
      end(ctx, 1);
    });
  }

  // Reduces to the root, which alone has an output.
  template <context::SingleCopyContext Ctx>
  void reduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    const Slices slices{{count, ctx.ranks()}, reduction.element_bytes};
    const std::size_t most = most_elements(plan, reduction);
    const std::size_t largest =
        (count + static_cast<std::size_t>(ctx.ranks()) - 1) / static_cast<std::size_t>(ctx.ranks());
    const auto rounds = static_cast<context::Sequence>((largest + most - 1) / most);
    exposures_.call(ctx, [&] {
      bool fetches = false;
      if (ctx.rank() == root) {
        const bool is_mapped = exposures_.show(ctx, results, {Region::output, root, 0});
        fetches = !is_mapped && plan.results == Results::are_read;
      }
      begin(ctx);
      for (context::Sequence round = 0; round < rounds; ++round) {
        const Part part{slices, round * most, most, rounds_ + round};
        combine_part(ctx, part, root, reduction, plan.results);
        if (fetches) fetch(ctx, part);
      }
      end(ctx, rounds);
    });
  }

  // Stores each rank's block of the result at the beginning of its output. `blocks` are counted in
  // elements. Does not work in place.
  template <context::SingleCopyContext Ctx>
  void reduce_scatter(Ctx& ctx, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    const Block mine = blocks.of(ctx.rank());
    exposures_.call(ctx, [&] {
      begin(ctx);
      combine_all(ctx, static_cast<std::size_t>(mine.offset) * reduction.element_bytes,
                  {Region::output, ctx.rank(), 0}, {mine.bytes, reduction}, plan,
                  [](std::size_t, std::size_t) {});
      end(ctx, 0);
    });
  }

 private:
  // Indices of the places that a rank exposes.
  static constexpr int data = 0;
  static constexpr int results = 1;

  // Thrown if a contribution could not be read. Nothing may be reduced then.
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

  template <context::SingleCopyContext Ctx>
  void begin(Ctx& ctx) {
    exposures_.show(ctx, data, {Region::input, ctx.rank(), 0});
    exposures_.publish(ctx);
  }
  // Ranks that fetch nothing publish the same progress as the root, because they may be the root of
  // a later call.
  template <context::SingleCopyContext Ctx>
  void end(Ctx& ctx, context::Sequence rounds) {
    rounds_ += rounds;
    fetched_.publish(ctx, rounds_);
  }

  // Copies the slices that the other ranks have reduced.
  template <context::SingleCopyContext Ctx>
  void read_results(Ctx& ctx, const Slices& slices) {
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int slice = (ctx.rank() + step) % ctx.ranks();
      if (slices.elements(slice) == 0) continue;
      combined_.wait_for(ctx, slice, rounds_ + 1);
      const std::size_t at = slices.offset(slice);
      (void)exposures_.pull(ctx, slice, results, {Region::output, ctx.rank(), at}, at,
                            slices.elements(slice) * slices.element_bytes);
    }
  }

  // Writes a result of this rank to every other rank's output.
  template <context::SingleCopyContext Ctx>
  void write_result(Ctx& ctx, std::size_t at, std::size_t bytes) {
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int other = (ctx.rank() + step) % ctx.ranks();
      (void)exposures_.push(ctx, other, results, at, {Region::output, ctx.rank(), at}, bytes);
    }
  }

  // Reduces the data that begins `offset` bytes into each rank's input, and stores the result at
  // `to`, block by block. Calls combined(from, bytes) after each block.
  template <context::SingleCopyContext Ctx, class Combined>
  void combine_all(Ctx& ctx, std::size_t offset, Address to, const Combine& all, const Plan& plan,
                   Combined combined) {
    const std::size_t most = most_elements(plan, all.reduction);
    for (std::size_t from = 0; from < all.count; from += most) {
      const std::size_t at = from * all.reduction.element_bytes;
      const Combine block{std::min(most, all.count - from), all.reduction};
      combine(ctx, offset + at, to + at, block);
      combined(at, block.bytes());
    }
  }

  template <context::SingleCopyContext Ctx>
  void combine(Ctx& ctx, std::size_t offset, Address to, const Combine& how) {
    const auto contribution = [&](int rank) {
      if (rank == ctx.rank()) return Address{Region::input, rank, offset};
      if (const auto theirs = exposures_.map_exposed(ctx, rank, data)) return *theirs + offset;
      const Address block = pulled_at(ctx.rank(), rank);
      if (!exposures_.pull_shown(ctx, rank, data, block, offset, how.bytes())) throw Unread{};
      return block;
    };
    try {
      exposures_.with_all(ctx, [&] {
        fold_ranks(ctx, to, spare_of(ctx.rank(), block_bytes_), reduction_order_, contribution,
                   how);
      });
    } catch (const Unread&) {
      // The failure is reported to all ranks at the end of the call.
    }
  }

  template <context::SingleCopyContext Ctx>
  void combine_part(Ctx& ctx, const Part& part, int root, const memory::Reduction& reduction,
                    Results way) {
    const int mine = ctx.rank();
    const Address to = result_of(ctx, part, root, way);
    if (part.elements(mine) > 0) {
      combine(ctx, part.offset(mine), to, {part.elements(mine), reduction});
      if (to.region() == Region::scratch) {
        (void)exposures_.push(ctx, root, results, part.offset(mine), to, part.bytes(mine));
      }
    }
    combined_.publish(ctx, part.number + 1);
  }
  // Returns where this rank stores its share of a part for the root: in scratch memory if it then
  // writes the share to the root's output. A cell is free again once the root has fetched its
  // content.
  template <context::SingleCopyContext Ctx>
  Address result_of(Ctx& ctx, const Part& part, int root, Results way) {
    const std::size_t at = part.offset(ctx.rank());
    if (ctx.rank() == root) return {Region::output, root, at};
    if (const auto theirs = exposures_.map_exposed(ctx, root, results)) return *theirs + at;
    if (way == Results::are_written) return spare_of(ctx.rank(), block_bytes_).total;
    fetched_.wait_for(ctx, root, part.number + 1 - cells_);
    return cell_of(ctx.rank(), part.number);
  }

  template <context::SingleCopyContext Ctx>
  void fetch(Ctx& ctx, const Part& part) {
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int slice = (ctx.rank() + step) % ctx.ranks();
      combined_.wait_for(ctx, slice, part.number + 1);
      if (part.elements(slice) == 0) continue;
      ctx.copy({Region::output, ctx.rank(), part.offset(slice)}, cell_of(slice, part.number),
               part.bytes(slice), memory::CopyKernel::plain);
    }
    fetched_.publish(ctx, part.number + 1);
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
  SharedLayout layout_;
  ExposedBuffers exposures_;
  Counters combined_;
  Counters fetched_;
  std::size_t cells_offset_;
  context::Sequence rounds_;  // over all calls so far
};

}  // namespace huddle::node
