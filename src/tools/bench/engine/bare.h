// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Hand-written barriers, cache line transfers and copies, each specialized for a single case. They
// are the baselines for huddle's collectives.
#pragma once

#include <sched.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/context/sequence.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/copy_method.h"
#include "runtime/single_copy/cma.h"
#include "runtime/single_copy/peer_memory.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/calibrate/handoff_probe.h"
#include "tools/calibrate/pinned_threads.h"

namespace huddle::bench {

using calibrate::Count;
using calibrate::Flag;
using calibrate::publish;

// Spins without a pause instruction, because no other process needs the core.
inline void await_bare(const std::atomic<Count>& flag, Count count) {
  while (!context::reached(flag.load(std::memory_order_acquire), count)) continue;
}
// Calls sched_yield() while it waits, because the awaited rank may need this core.
inline void await_yielding(const std::atomic<Count>& flag, Count count) {
  while (!context::reached(flag.load(std::memory_order_acquire), count)) sched_yield();
}

// A barrier of two ranks with one flag each, both in one cache line.
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
  struct alignas(calibrate::false_sharing_bytes) Flags {
    std::atomic<Count> first{0};
    std::atomic<Count> second{0};
  };
  Shared<Flags> flags_;
  Count round_ = 0;
};

// A barrier of two ranks with one flag each, in separate cache lines.
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

// A barrier with a central counter: each rank increments it, the last one releases the others, and
// waiting ranks yield.
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

// A barrier with one flag per rank: each rank raises its flag, rank 0 reads all of them and raises
// its own for all. Waiting ranks yield.
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

// A ping-pong between two ranks, each of which writes its own cache line. One call is one
// direction, that is, half of a round trip.
class PingPong final : public Implementation {
 public:
  void set_up(const RankContext& here) override {
    if (here.rank == 0) flags_.build();
  }
  // Requires: `calls` is even.
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

// Transfers data from rank 0 to rank 1 through a ring of shared blocks, so that both copy at the
// same time. It corresponds to HandoffProbe::time_ring(), but runs between processes.
class BareRing final : public Implementation {
 public:
  explicit BareRing(memory::CopyMethod method) : method_(method) {}

  void set_up(const RankContext& here) override;
  void prepare(const RankContext& here) override;
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;

 private:
  using Block = std::array<std::byte, calibrate::ring_block_bytes>;

  void write(const RankContext& here);
  void read(const RankContext& here);

  memory::CopyMethod method_;
  Shared<Block> blocks_{calibrate::ring_blocks};
  Shared<calibrate::Flag> flags_{std::size_t{2}};  // blocks filled, blocks emptied
  calibrate::Count count_ = 0;  // number of blocks that this rank has transferred in all calls
};

// Lower bound for single copy: one or both of two ranks read the peer's block directly from its
// memory, without any synchronization. A rank reads with process_vm_readv or, if the comparison's
// buffers are in the shared heap, copies from the peer's mapped memory. With Own::copied it also
// copies its own block.
class BareRead final : public Implementation {
 public:
  enum class Readers { both, first };
  enum class Own { copied, left };
  // `kernel`: the copy kernel for mapped memory.
  explicit BareRead(Readers readers, Own own = Own::copied,
                    memory::CopyKernel kernel = memory::CopyKernel::plain)
      : readers_(readers), own_(own), kernel_(kernel) {}

  void set_up(const RankContext& here) override;
  void prepare(const RankContext& here) override;
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;

 private:
  struct Shown {
    std::int64_t process = 0;
    single_copy::RemoteAddress source = 0;
    memory::HeapFacts heap;
  };

  void open_peer(const RankContext& here);

  bool reads(const RankContext& here) const { return readers_ == Readers::both || here.rank == 0; }

  Readers readers_;
  Own own_;
  memory::CopyKernel kernel_;
  std::optional<single_copy::TracingPermit> permit_;
  Shared<Shown> shown_{std::size_t{2}};            // by rank
  std::unique_ptr<single_copy::PeerMemory> peer_;  // on a rank that reads, after its first call
};

}  // namespace huddle::bench
