// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The calls of one stretch. Both sides use the same buffers, with data that change from call to
// call and are checked. The ranks share memory for that, independent of the MPI and of huddle: the
// harness's barrier, the current order, and each rank's times.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tools/bench/harness/harness.h"
#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/ranks/mockups.h"
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

inline constexpr std::size_t apart = 128;  // bytes: cache lines are fetched in pairs

// The hardware threads that a rank may use, one bit each.
using Processors = std::array<unsigned long, 128>;

// The state that one rank publishes.
struct alignas(apart) Slot {
  std::atomic<std::int64_t> in_ns{0};
  std::atomic<std::int64_t> out_ns{0};
  std::atomic<std::uint32_t> mark{0};
  Processors processors{};
};

struct Head {
  explicit Head(int ranks, bool oversubscribed) : barrier(ranks, oversubscribed) {}

  alignas(apart) bench::HarnessBarrier barrier;
  alignas(apart) std::atomic<std::uint32_t> orders{0};  // number of orders so far
  Order order{};
  bool ends = false;                               // the ranks have to end; there is no order
  alignas(apart) std::atomic<bool> goes_on{true};  // set by rank 0 after each stretch
  std::array<std::atomic<bool>, 2> wrong{};        // by side
};

class SharedState {
 public:
  // Collective; uses the MPI. Throws std::runtime_error if the ranks share no memory.
  explicit SharedState(const Sides& sides);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool oversubscribed() const { return oversubscribed_; }  // more ranks than hardware threads
  Head& head() const { return *head_; }
  Slot& slot(int rank) const { return slots_[rank]; }
  Slot& mine() const { return slot(rank_); }

  // Wake the sleeping ranks, to carry out an order or to exit. Called on rank 0.
  void give(const Order& order);
  void end();
  // Sleeps until rank 0 gives an order. Returns false if the ranks have to end instead.
  bool take(Order& order);

 private:
  void wake();
  void meet(const Sides& sides);
  bool is_crowded() const;

  int rank_ = 0;
  int ranks_ = 1;
  bool oversubscribed_ = false;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  Head* head_ = nullptr;
  Slot* slots_ = nullptr;
  std::uint32_t taken_ = 0;
};

// A page-aligned buffer, as MPI benchmarks allocate them. It grows only if necessary, so that
// what an MPI or huddle caches for an address stays valid.
class Buffer {
 public:
  // Returns memory of at least `bytes` bytes; if `fresh`, newly allocated and untouched.
  std::byte* at_least(std::size_t bytes, bool fresh);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

class Work {
 public:
  Work(const Sides& sides, const SharedState& shared)
      : sides_(sides), shared_(shared), world_(sides.world) {}

  void begin(const Order& order);
  // Duplicates the communicator, so that the following calls are the first on it.
  void use_new_communicator();

  // Writes new data for the next stretch and moves on to the next roots.
  void prepare();
  // Runs all calls of the stretch.
  void carry_out(Side side);
  // Returns whether the results of the last stretch are right.
  bool is_right() const;
  // Checks barriers, which leave no data: returns whether after a barrier each rank sees what all
  // ranks wrote before it.
  bool is_right_barrier(Side side);

 private:
  // Returns the number of calls with different data in a stretch.
  int kinds() const { return order_.timing == Timing::osu ? 1 : order_.calls; }
  int root(int call) const { return (turn_ + call) % shared_.ranks(); }
  std::uint32_t stamp(int call) const { return stamp_ + static_cast<std::uint32_t>(call); }
  CallData call_data(int call) const;
  void allocate_scratch();
  // Runs one barrier or its mock-up.
  void synchronize(Side side);

  Sides sides_;  // its world is the communicator in use
  const SharedState& shared_;
  const mpi::Comm world_;
  Order order_{};
  Buffer inputs_;
  Buffer outputs_;
  Buffer scratch_inputs_;
  Buffer scratch_outputs_;
  Scratch scratch_;  // of the order's mock-up
  std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
  std::size_t input_stride_ = 0;
  std::size_t output_stride_ = 0;
  std::vector<int> byte_counts_;
  std::vector<int> byte_places_;
  std::vector<int> number_counts_;
  int turn_ = 0;
  std::uint32_t stamp_ = 0;
};

}  // namespace huddle::bench::ranks
