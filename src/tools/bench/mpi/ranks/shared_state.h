// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory that all ranks share, apart from the MPI and from huddle: the harness's own barrier, the
// order to carry out, and when each rank was where.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tools/bench/harness/harness_barrier.h"
#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

inline constexpr std::size_t apart = 128;  // bytes: lines come in pairs

// The processors that a rank may use, a bit each.
using Processors = std::array<unsigned long, 128>;

// What one rank says of itself.
struct alignas(apart) Slot {
  std::atomic<std::int64_t> in_ns{0};
  std::atomic<std::int64_t> out_ns{0};
  std::atomic<std::uint32_t> mark{0};
  Processors processors{};
};

struct Head {
  explicit Head(int ranks, bool crowded) : barrier(ranks, crowded) {}

  alignas(apart) bench::HarnessBarrier barrier;
  alignas(apart) std::atomic<std::uint32_t> orders{0};  // how many were given
  Order order{};
  bool ends = false;                               // instead of an order
  alignas(apart) std::atomic<bool> goes_on{true};  // rank 0's word, behind each stretch
  std::array<std::atomic<bool>, 2> wrong{};        // by side
};

class SharedState {
 public:
  // All ranks. Uses the MPI once, to find each other. Throws std::runtime_error where the ranks
  // have no memory in common.
  explicit SharedState(const Sides& sides);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool crowded() const { return crowded_; }  // more ranks than processors
  Head& head() const { return *head_; }
  Slot& slot(int rank) const { return slots_[rank]; }
  Slot& mine() const { return slot(rank_); }

  // Rank 0 gives an order, or the word to end; the others sleep until it does.
  void give(const Order& order);
  void end();
  // False: the end.
  bool take(Order& order);

 private:
  void wake();
  void meet(const Sides& sides);
  bool is_crowded() const;

  int rank_ = 0;
  int ranks_ = 1;
  bool crowded_ = false;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  Head* head_ = nullptr;
  Slot* slots_ = nullptr;
  std::uint32_t taken_ = 0;
};

}  // namespace huddle::bench::ranks
