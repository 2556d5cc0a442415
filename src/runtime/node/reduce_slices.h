// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of large data in slices: each rank copies the other ranks' slices of its data into its
// shared memory, reduces its own slice of all ranks' data, and fetches the results.
//
// Data is processed in chunks of one slice per rank, and the three steps of consecutive chunks
// overlap: while one chunk is copied in, the previous one is reduced, and the oldest one is
// fetched.
//
// With Results::returned, a result replaces the contribution of its reader. Its cache lines are
// those that the reducing rank has just read, and that the reader has in its cache when it copies
// in the next chunk. So a line carries data in both directions between two ranks, and is never
// fetched only to be overwritten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/reduction_order.h"
#include "runtime/node/slices.h"

namespace huddle::node {

class SlicedReduce {
 public:
  struct Parameters {
    std::size_t slice_bytes = 65536;  // maximum bytes that a rank reduces per chunk
    int sets = 4;                     // chunks in the buffers at once; a power of two, at least 2
  };
  // Location where a rank publishes its results.
  enum class Results : std::uint8_t {
    returned,      // for each reader, in place of its contribution
    in_one_place,  // once, for all readers
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t slice_bytes = 16384;  // at most that of the parameters
    // For contributions. The reducing rank may take ownership of those that no result replaces.
    memory::CopyMethod method = {};
    Results results = Results::returned;
  };

  // Requires: all words of shared memory hold `start`.
  SlicedReduce(const Parameters& parameters, const ReductionOrder& reduction_order, int ranks,
               context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }
  std::size_t scratch_bytes() const { return spare_bytes(slice_bytes_); }

  // The collectives below require that an element has at most `plan.slice_bytes` bytes.
  template <context::Context Ctx>
  void reduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    run(ctx, count, {reduction, plan, {ReductionTarget::Kind::to_one, root}});
  }
  template <context::Context Ctx>
  void allreduce(Ctx& ctx, std::size_t count, const memory::Reduction& reduction,
                 const Plan& plan) {
    run(ctx, count, {reduction, plan, {ReductionTarget::Kind::to_all}});
  }
  // Stores each rank's block of the result at the beginning of its output. Blocks are counted in
  // elements.
  // Requires: the output is not the input.
  template <context::Context Ctx>
  void reduce_scatter(Ctx& ctx, const Blocks& blocks, const memory::Reduction& reduction,
                      const Plan& plan) {
    run(ctx, blocks.largest(ctx.ranks()) * ranks(),
        {reduction, plan, {ReductionTarget::Kind::to_each, 0, &blocks}});
  }
  // Requires, for scan() and exscan(): `plan.results` is Results::returned.
  template <context::Context Ctx>
  void scan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, count, {reduction, plan, {ReductionTarget::Kind::inclusive}});
  }
  template <context::Context Ctx>
  void exscan(Ctx& ctx, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(ctx, count, {reduction, plan, {ReductionTarget::Kind::exclusive}});
  }

 private:
  // Bytes reduced at a time. Two operands and a result of this size fit into any first-level cache.
  static constexpr std::size_t block_bytes = 8192;

  // Parameters common to all chunks of a call.
  struct Job {
    const memory::Reduction& reduction;
    const Plan& plan;
    ReductionTarget aim;
  };

  // One chunk of one call, in bytes.
  struct Part {
    context::Sequence number = 0;  // counted over the chunks of all calls
    Chunk chunk;
    std::size_t element_bytes = 0;

    std::size_t bytes(int slice) const { return chunk.elements(slice) * element_bytes; }
    std::size_t in_input(int slice) const { return chunk.in_input(slice) * element_bytes; }
    std::size_t in_output(int slice) const { return chunk.in_output(slice) * element_bytes; }
  };

  // `count` is the number of elements. If blocks differ in size, each is counted with the size of
  // the largest.
  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t count, const Job& job) {
    const std::size_t element_bytes = job.reduction.element_bytes;
    const std::size_t slice = job.plan.slice_bytes / element_bytes;
    const std::size_t chunks = (count + slice * ranks() - 1) / (slice * ranks());
    const auto part = [&](std::size_t i) {
      return Part{count_ + static_cast<context::Sequence>(i),
                  job.aim.blocks == nullptr ? Chunk::of_all(i, count, slice, ctx.ranks())
                                            : Chunk::of_blocks(i, *job.aim.blocks, slice),
                  element_bytes};
    };
    if (chunks == 0) return;
    shown_.announce_call(ctx);
    // Fetches first, because the next contributions replace the returned results.
    for (std::size_t step = 0; step < chunks + sets_; ++step) {
      if (step >= sets_) fetch(ctx, part(step - sets_), job);
      if (step < chunks) bring_in(ctx, part(step), job.plan.method->in);
      if (step >= 1 && step <= chunks) combine(ctx, part(step - 1), job);
    }
    count_ += static_cast<context::Sequence>(chunks);
  }

  // Copies the other ranks' slices of this rank's data into shared memory.
  template <context::Context Ctx>
  void bring_in(Ctx& ctx, const Part& part, memory::CopyKernel copy_in) {
    joined_guard_.wait_for_others(ctx, part.number + 1 - sets_);
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int slice = (ctx.rank() + step) % ctx.ranks();
      ctx.copy(shown(ctx.rank(), slice, part), {Region::input, ctx.rank(), part.in_input(slice)},
               part.bytes(slice), copy_in);
    }
    shown_.publish(ctx, part.number + 1);
  }

  // Reduces block by block, so that a result is still in the first-level cache when it is copied.
  template <context::Context Ctx>
  void combine(Ctx& ctx, const Part& part, const Job& job) {
    if (job.plan.results == Results::in_one_place) {
      fetched_guard_.wait_for_others(ctx, part.number + 1 - sets_);
    }
    const std::size_t most = std::max<std::size_t>(1, block_bytes / part.element_bytes);
    const std::size_t elements = part.chunk.elements(ctx.rank());
    for (std::size_t from = 0; from < elements; from += most) {
      const std::size_t at = from * part.element_bytes;
      const Combine how{std::min(most, elements - from), job.reduction};
      if (job.aim.is_of_prefixes()) {
        combine_prefixes(ctx, part, at, how, job);
      } else {
        combine_all(ctx, part, at, how, job);
      }
    }
    combined_.publish(ctx, part.number + 1);
  }

  // Returns the contribution of `rank` to a block that this rank reduces, `at` bytes into its
  // slice. Blocks until it is there.
  template <context::Context Ctx>
  Address contribution(Ctx& ctx, int rank, const Part& part, std::size_t at) const {
    const int mine = ctx.rank();
    if (rank == mine) return Address{Region::input, mine, part.in_input(mine)} + at;
    shown_.wait_in_call(ctx, rank, part.number + 1);
    return shown(rank, mine, part) + at;
  }

  template <context::Context Ctx>
  void combine_all(Ctx& ctx, const Part& part, std::size_t at, const Combine& how, const Job& job) {
    const Spare spare = spare_of(ctx.rank(), slice_bytes_);
    const Address target = combine_target(ctx.rank(), part, job, spare);
    const Address block = target == spare.total ? target : target + at;
    fold_ranks(
        ctx, block, spare, reduction_order_,
        [&](int rank) { return contribution(ctx, rank, part, at); }, how);
    hand_out(ctx, block, part, at, how.bytes(), job);
    if (job.plan.method->ownership == memory::LineOwnership::reader_takes)
      keep_contributions(ctx, part, at, how.bytes(), job);
  }

  // Takes ownership of the contributions that no result replaces.
  template <context::Context Ctx>
  void keep_contributions(Ctx& ctx, const Part& part, std::size_t at, std::size_t bytes,
                          const Job& job) {
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int owner = (ctx.rank() + step) % ctx.ranks();
      const bool has_result =
          job.plan.results == Results::returned && job.aim.wants(owner, ctx.rank());
      if (!has_result) ctx.own(shown(owner, ctx.rank(), part) + at, bytes);
    }
  }

  // A returned result is computed in place of its first reader's contribution, in cache lines that
  // have just arrived. A result in one place is computed elsewhere, because lines that all other
  // ranks have read would have to be invalidated one by one during the reduction.
  Address combine_target(int mine, const Part& part, const Job& job, const Spare& spare) const {
    const int reader = job.aim.first_reader(mine, static_cast<int>(ranks()));
    if (job.plan.results == Results::returned && reader != mine) return shown(reader, mine, part);
    return job.aim.wants(mine, mine) ? Address{Region::output, mine, part.in_output(mine)}
                                     : spare.total;
  }

  // Copies a reduced block, `at` bytes into this rank's slice, to all places that need it.
  template <context::Context Ctx>
  void hand_out(Ctx& ctx, Address block, const Part& part, std::size_t at, std::size_t bytes,
                const Job& job) {
    const int mine = ctx.rank();
    const auto also = [&](Address to, memory::CopyKernel kernel) {
      if (to != block) ctx.copy(to, block, bytes, kernel);
    };
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int reader = (mine + step) % ctx.ranks();
      if (!job.aim.wants(reader, mine)) continue;
      also(result(mine, reader, part, job.plan) + at, job.plan.method->in);
      if (job.plan.results == Results::in_one_place) break;
    }
    if (!job.aim.wants(mine, mine)) return;
    also({Region::output, mine, part.in_output(mine) + at}, memory::CopyKernel::plain);
  }

  // Computes prefixes rank by rank, each in place of its reader's contribution.
  template <context::Context Ctx>
  void combine_prefixes(Ctx& ctx, const Part& part, std::size_t at, const Combine& how,
                        const Job& job) {
    const Spare spare = spare_of(ctx.rank(), slice_bytes_);
    Address before = contribution(ctx, 0, part, at);
    if (job.aim.wants(0, ctx.rank())) before = put(ctx, prefix(ctx, 0, part, at), before, how);
    Address total = spare.total;
    Address next = spare.block;
    for (int rank = 1; rank < ctx.ranks(); ++rank) {
      const Address to = prefix(ctx, rank, part, at);
      const Address given = contribution(ctx, rank, part, at);
      if (job.aim.kind == ReductionTarget::Kind::inclusive) {
        ctx.reduce(to, before, given, how.count, how.reduction);
        before = to;
        continue;
      }
      const bool is_last = rank + 1 == ctx.ranks();
      if (!is_last) ctx.reduce(total, before, given, how.count, how.reduction);
      put(ctx, to, before, how);
      before = total;
      std::swap(total, next);
    }
  }
  template <context::Context Ctx>
  static Address put(Ctx& ctx, Address to, Address from, const Combine& how) {
    if (to != from) ctx.copy(to, from, how.bytes(), memory::CopyKernel::plain);
    return to;
  }
  template <context::Context Ctx>
  Address prefix(const Ctx& ctx, int reader, const Part& part, std::size_t at) const {
    const int mine = ctx.rank();
    if (reader == mine) return Address{Region::output, mine, part.in_output(mine)} + at;
    return shown(reader, mine, part) + at;
  }

  template <context::Context Ctx>
  void fetch(Ctx& ctx, const Part& part, const Job& job) {
    const int mine = ctx.rank();
    for (int step = 1; step < ctx.ranks(); ++step) {
      const int slice = (mine + step) % ctx.ranks();
      if (!job.aim.wants(mine, slice)) continue;
      combined_.wait_for(ctx, slice, part.number + 1);
      ctx.copy({Region::output, mine, part.in_output(slice)}, result(slice, mine, part, job.plan),
               part.bytes(slice), memory::CopyKernel::plain);
    }
    fetched_.publish(ctx, part.number + 1);
  }

  std::size_t ranks() const { return others_ + 1; }
  // Returns where `owner` publishes its data for the rank that reduces `slice`.
  // Requires: that is another rank.
  Address shown(int owner, int slice, const Part& part) const {
    const auto number = static_cast<std::size_t>(slice < owner ? slice : slice - 1);
    const std::size_t set = set_of(part);
    return {Region::shared, owner, shown_offset_ + (set * others_ + number) * slice_bytes_};
  }
  // Returns where `reader` finds the result of this slice.
  Address result(int slice, int reader, const Part& part, const Plan& plan) const {
    if (plan.results == Results::returned) return shown(reader, slice, part);
    return {Region::shared, slice, results_offset_ + set_of(part) * slice_bytes_};
  }
  std::size_t set_of(const Part& part) const {
    return part.number % sets_;  // NOLINT(clang-analyzer-core.DivideZero): there are some
  }

  ReductionOrder reduction_order_;
  std::size_t others_;
  std::size_t slice_bytes_;
  context::Sequence sets_;
  SharedLayout layout_;
  Counters shown_;
  Counters combined_;
  Counters fetched_;
  ReuseGuard joined_guard_;
  ReuseGuard fetched_guard_;
  std::size_t shown_offset_;
  std::size_t results_offset_;
  context::Sequence count_;  // chunks of all calls so far
};

}  // namespace huddle::node
