// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reduction of much data: each rank joins one slice of everybody's data. Everybody copies the
// slices of the others into its shared memory, joins its own slice of all of them, and fetches the
// results.
//
// Data go through in chunks, each of as many slices as ranks, and the three steps of consecutive
// chunks overlap: while one chunk is copied in, the one before is joined, and the one before that
// is fetched.
#pragma once

#include <algorithm>
#include <optional>

#include "node/association.h"
#include "node/counters.h"
#include "node/fold.h"
#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

class SlicedReduce {
 public:
  struct Parameters {
    std::size_t slice_bytes = 65536;  // the most that a rank joins of a chunk
    int sets = 4;                     // chunks that have room at once; a power of two, 2 or more
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t slice_bytes = 16384;  // not over that of the parameters
    memory::CopyKernel copy_in = memory::CopyKernel::plain;
  };

  // pre: shared memory holds `start` everywhere.
  SlicedReduce(const Parameters& parameters, const Association& association, int ranks,
               world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  std::size_t scratch_bytes() const { return spare_bytes(slice_bytes_); }

  // Both: pre: an element is not over the plan's slice_bytes.
  template <world::World W>
  void reduce(W& w, std::size_t count, const memory::Reduction& reduction, int root,
              const Plan& plan) {
    run(w, count, reduction, plan, w.rank() == root);
  }
  template <world::World W>
  void allreduce(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan) {
    run(w, count, reduction, plan, true);
  }

 private:
  // With what it is joined to and the result it fits into any first-level cache.
  static constexpr std::size_t block_bytes = 8192;

  // One chunk of one call.
  struct Chunk {
    world::Sequence number = 0;  // among the chunks of all calls
    std::size_t from = 0;        // its first element among the call's
    std::size_t count = 0;
    std::size_t element_bytes = 0;
    int ranks = 1;

    std::size_t begin(int slice) const {
      return count * static_cast<std::size_t>(slice) / static_cast<std::size_t>(ranks);
    }
    std::size_t elements(int slice) const { return begin(slice + 1) - begin(slice); }
    std::size_t bytes(int slice) const { return elements(slice) * element_bytes; }
    // Where the slice lies in the caller's buffers.
    std::size_t offset(int slice) const { return (from + begin(slice)) * element_bytes; }
  };

  template <world::World W>
  void run(W& w, std::size_t count, const memory::Reduction& reduction, const Plan& plan,
           bool wants_result) {
    const std::size_t most = plan.slice_bytes / reduction.element_bytes * ranks();
    const std::size_t chunks = (count + most - 1) / most;
    const auto chunk = [&](std::size_t i) {
      return Chunk{count_ + static_cast<world::Sequence>(i), i * most,
                   std::min(most, count - i * most), reduction.element_bytes, w.ranks()};
    };
    if (chunks == 0) return;
    for (std::size_t step = 0; step < chunks + 2; ++step) {
      if (step < chunks) bring_in(w, chunk(step), plan.copy_in);
      if (step >= 1 && step <= chunks) join(w, chunk(step - 1), reduction, plan, wants_result);
      if (step >= 2) fetch(w, chunk(step - 2), wants_result);
    }
    count_ += static_cast<world::Sequence>(chunks);
  }

  // Shows the others their slices of this rank's data.
  template <world::World W>
  void bring_in(W& w, const Chunk& chunk, memory::CopyKernel copy_in) {
    joined_guard_.wait_for_others(w, chunk.number + 1 - sets_);
    for (int step = 1; step < w.ranks(); ++step) {
      const int slice = (w.rank() + step) % w.ranks();
      w.copy(shown(w.rank(), slice, chunk), {Region::input, w.rank(), chunk.offset(slice)},
             chunk.bytes(slice), copy_in);
    }
    shown_.publish(w, chunk.number + 1);
  }

  // Block by block, so that what was joined is still in the nearest cache when it is shown: joining
  // straight into lines that all others have read would take them back one by one.
  template <world::World W>
  void join(W& w, const Chunk& chunk, const memory::Reduction& reduction, const Plan& plan,
            bool wants_result) {
    fetched_guard_.wait_for_others(w, chunk.number + 1 - sets_);
    const int mine = w.rank();
    const Spare spare = spare_of(mine, slice_bytes_);
    const std::size_t most = std::max<std::size_t>(1, block_bytes / reduction.element_bytes);
    for (std::size_t from = 0; from < chunk.elements(mine); from += most) {
      const std::size_t at = from * reduction.element_bytes;
      const auto contribution = [&](int rank) {
        if (rank == mine) return Place{Region::input, rank, chunk.offset(mine) + at};
        shown_.wait_for(w, rank, chunk.number + 1);
        return shown(rank, mine, chunk) + at;
      };
      const Join how{std::min(most, chunk.elements(mine) - from), reduction};
      const Place to =
          wants_result ? Place{Region::output, mine, chunk.offset(mine) + at} : spare.total;
      fold_ranks(w, to, spare, association_, contribution, how);
      w.copy(result(mine, chunk) + at, to, how.bytes(), plan.copy_in);
    }
    joined_.publish(w, chunk.number + 1);
  }

  template <world::World W>
  void fetch(W& w, const Chunk& chunk, bool wants_result) {
    for (int step = 1; wants_result && step < w.ranks(); ++step) {
      const int slice = (w.rank() + step) % w.ranks();
      joined_.wait_for(w, slice, chunk.number + 1);
      take(w, slice, chunk);
    }
    fetched_.publish(w, chunk.number + 1);
  }

  template <world::World W>
  void take(W& w, int slice, const Chunk& chunk) {
    w.copy({Region::output, w.rank(), chunk.offset(slice)}, result(slice, chunk),
           chunk.bytes(slice), memory::CopyKernel::plain);
  }

  std::size_t ranks() const { return others_ + 1; }
  // What `owner` shows to the rank that joins this slice: never its own.
  Place shown(int owner, int slice, const Chunk& chunk) const {
    const auto number = static_cast<std::size_t>(slice < owner ? slice : slice - 1);
    const std::size_t set = chunk.number % sets_;
    return {Region::shared, owner, shown_offset_ + (set * others_ + number) * slice_bytes_};
  }
  Place result(int slice, const Chunk& chunk) const {
    return {Region::shared, slice, results_offset_ + chunk.number % sets_ * slice_bytes_};
  }

  Association association_;
  std::size_t others_;
  std::size_t slice_bytes_;
  world::Sequence sets_;
  Carver carver_;
  Counters shown_;
  Counters joined_;
  Counters fetched_;
  ReuseGuard joined_guard_;
  ReuseGuard fetched_guard_;
  std::size_t shown_offset_;
  std::size_t results_offset_;
  world::Sequence count_;  // chunks of all calls so far
};

}  // namespace huddle::node
