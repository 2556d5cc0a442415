// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Interface of the entries that are timed: huddle's collectives or hand-written baselines. An
// implementation is constructed before the ranks are forked. Each rank then has its own copy; data
// that the ranks share is in SharedPages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "runtime/context/sequence.h"
#include "runtime/memory/heap.h"
#include "runtime/team/team.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/calibrate/pinned_threads.h"

namespace huddle::bench {

// The calling rank, its team and its buffers, as passed to implementations.
struct RankContext {
  int rank = 0;
  int ranks = 1;
  team::Team* team = nullptr;
  // This rank's own memory, which it touched first. All implementations use the same buffers, so
  // that none benefits from better placed pages. Their size is Comparison::bytes.
  std::span<std::byte> source;
  std::span<std::byte> target;
  const memory::Heap* heap = nullptr;  // the heap that contains the buffers, if any
  std::uint32_t stamp = 0;             // differs in each stretch, so that stale data is detected
};

class Implementation {
 public:
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  virtual ~Implementation() = default;

  // All ranks call each of the following except how(). A barrier follows set_up(), prepare() and
  // run().
  virtual void set_up(const RankContext&) {}
  // Writes new input data. Called before each stretch.
  virtual void prepare(const RankContext&) {}
  // Runs the timed calls.
  virtual void run(const RankContext& here, int calls) = 0;
  // Returns whether the results of the last stretch are right.
  virtual bool is_right(const RankContext&) { return true; }
  // Returns a description of the algorithm used. Called on rank 0 at the end.
  virtual std::string how(const RankContext&) { return {}; }
};

// Adapts a barrier to Implementation. A barrier moves no data, so is_right() tests it with
// additional calls that are not timed.
// Requires: Barrier has build(here), called on all ranks, and pass(here), which is inlined into the
// timed loop.
template <class Barrier>
class BarrierImplementation final : public Implementation {
 public:
  BarrierImplementation(int ranks, Barrier barrier)
      : marks_(static_cast<std::size_t>(ranks)), barrier_(std::move(barrier)) {}

  void set_up(const RankContext& here) override {
    if (here.rank == 0) marks_.build();
    barrier_.build(here);
  }
  void run(const RankContext& here, int calls) override {
    for (int call = 0; call < calls; ++call) barrier_.pass(here);
  }
  // Checks that after a barrier each rank sees what all ranks wrote before it.
  bool is_right(const RankContext& here) override {
    bool all_there = true;
    for (int call = 0; call < tried_calls; ++call) {
      marks_[here.rank].value.store(++mark_, std::memory_order_relaxed);
      barrier_.pass(here);
      for (int rank = 0; rank < here.ranks; ++rank) {
        const auto seen = marks_[rank].value.load(std::memory_order_relaxed);
        all_there = all_there && context::reached(seen, mark_);
      }
    }
    return all_there;
  }
  std::string how(const RankContext& here) override {
    if constexpr (requires { barrier_.how(here); }) return barrier_.how(here);
    return {};
  }

 private:
  static constexpr int tried_calls = 8;

  Shared<calibrate::Flag> marks_;  // by rank
  Barrier barrier_;
  calibrate::Count mark_ = 0;
};

template <class Barrier>
std::unique_ptr<Implementation> barrier_implementation(int ranks, Barrier barrier) {
  return std::make_unique<BarrierImplementation<Barrier>>(ranks, std::move(barrier));
}

}  // namespace huddle::bench
