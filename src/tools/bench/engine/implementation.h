// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One way to do something that is timed: huddle's, or a bare one written by hand. Made before the
// ranks are forked: each rank has a copy of its own, and what they share lies in shared pages.
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

// A rank, as implementations see it.
struct RankContext {
  int rank = 0;
  int ranks = 1;
  team::Team* team = nullptr;
  // This rank's own memory, touched by it; the same for all implementations, so that none has the
  // better pages. As many bytes as the comparison moves.
  std::span<std::byte> source;
  std::span<std::byte> target;
  const memory::Heap* heap = nullptr;  // where they lie, in a comparison of heaps
  std::uint32_t stamp = 0;  // another one in each stretch: data of one are wrong in the next
};

class Implementation {
 public:
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  virtual ~Implementation() = default;

  // Each is called on all ranks. Between one and the next all wait for all.
  virtual void set_up(const RankContext&) {}
  // Before a stretch: new data.
  virtual void prepare(const RankContext&) {}
  // What is timed.
  virtual void run(const RankContext& here, int calls) = 0;
  // After a stretch: whether what came out is right.
  virtual bool is_right(const RankContext&) { return true; }
  // How it goes about it, in words; asked on the first rank when all is over.
  virtual std::string how(const RankContext&) { return {}; }
};

// Barriers as implementations: timed in series, and tried apart from that.

// Barrier: build(here) on all ranks, then pass(here) is inlined into the timed loop.
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
  // Behind a barrier everybody sees what all did before it.
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
