// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Barriers and a hand-over of a cache line as one would write them by hand for just this case: what
// huddle is held against.
#pragma once

#include <sched.h>

#include <atomic>

#include "runtime/context/sequence.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/shared_pages.h"
#include "tools/calibrate/flag.h"

namespace huddle::bench {

using calibrate::Count;
using calibrate::Flag;
using calibrate::publish;

// Looks without a pause: nobody else wants the core.
inline void await_bare(const std::atomic<Count>& flag, Count count) {
  while (!world::reached(flag.load(std::memory_order_acquire), count)) continue;
}
// The awaited one may need this very core.
inline void await_yielding(const std::atomic<Count>& flag, Count count) {
  while (!world::reached(flag.load(std::memory_order_acquire), count)) sched_yield();
}

// Two ranks, a flag each, both in one line.
class OneLineExchange {
 public:
  void build(const RankContext& here) {
    if (here.rank == 0) flags_.build();
  }
  void pass(const RankContext& here) {
    publish(here.rank == 0 ? flags_->first : flags_->second, ++round_);
    await_bare(here.rank == 0 ? flags_->second : flags_->first, round_);
  }

 private:
  struct alignas(calibrate::apart_bytes) Flags {
    std::atomic<Count> first{0};
    std::atomic<Count> second{0};
  };
  Shared<Flags> flags_;
  Count round_ = 0;
};

// Two ranks, a flag each in a line of its own.
class TwoLineExchange {
 public:
  void build(const RankContext& here) {
    if (here.rank == 0) flags_.build();
  }
  void pass(const RankContext& here) {
    publish(flags_[here.rank].value, ++round_);
    await_bare(flags_[1 - here.rank].value, round_);
  }

 private:
  Shared<Flag> flags_{std::size_t{2}};
  Count round_ = 0;
};

// All count themselves in; the last one lets all go; whoever waits yields.
class YieldingCounter {
 public:
  void build(const RankContext& here) {
    if (here.rank == 0) counters_.build();
  }
  void pass(const RankContext& here) {
    std::atomic<Count>& arrived = counters_[0].value;
    std::atomic<Count>& released = counters_[1].value;
    ++round_;
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<Count>(here.ranks)) {
      arrived.store(0, std::memory_order_relaxed);
      publish(released, round_);
    } else {
      await_yielding(released, round_);
    }
  }

 private:
  Shared<Flag> counters_{std::size_t{2}};
  Count round_ = 0;
};

// Everybody raises a flag; the first rank looks at all of them and raises one for all; whoever
// waits yields.
class YieldingFlags {
 public:
  explicit YieldingFlags(int ranks) : flags_(static_cast<std::size_t>(ranks)) {}
  void build(const RankContext& here) {
    if (here.rank == 0) flags_.build();
  }
  void pass(const RankContext& here) {
    ++round_;
    if (here.rank == 0) {
      for (int rank = 1; rank < here.ranks; ++rank) await_yielding(flags_[rank].value, round_);
      publish(flags_[0].value, round_);
    } else {
      publish(flags_[here.rank].value, round_);
      await_yielding(flags_[0].value, round_);
    }
  }

 private:
  Shared<Flag> flags_;
  Count round_ = 0;
};

// A line that goes to and fro between two ranks, each of which writes one of its own: a call is one
// way, half of a round trip.
class PingPong final : public Implementation {
 public:
  void set_up(const RankContext& here) override {
    if (here.rank == 0) flags_.build();
  }
  // pre: an even number of calls.
  void run(const RankContext& here, int calls) override {
    for (int trip = 0; trip < calls / 2; ++trip) {
      ++round_;
      if (here.rank == 0) {
        publish(flags_[0].value, round_);
        await_bare(flags_[1].value, round_);
      } else {
        await_bare(flags_[0].value, round_);
        publish(flags_[1].value, round_);
      }
    }
  }

 private:
  Shared<Flag> flags_{std::size_t{2}};
  Count round_ = 0;
};

}  // namespace huddle::bench
