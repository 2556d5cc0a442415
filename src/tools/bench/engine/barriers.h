// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Barriers as implementations: timed in series, and tried apart from that.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "runtime/context/sequence.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/shared_pages.h"
#include "tools/calibrate/flag.h"

namespace huddle::bench {

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
        all_there = all_there && world::reached(seen, mark_);
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
