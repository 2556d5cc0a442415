// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The calls of one stretch: the same buffers for both sides, with data that change from call to
// call and are checked.
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
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

// Memory that all ranks share, apart from the MPI and from huddle: the harness's own barrier, the
// order to carry out, and when each rank was where.
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

// Page-aligned, as large arrays of programs are; grows only, so that what an MPI or huddle keeps
// about an address stays true.
class Buffer {
 public:
  // fresh: nobody has touched them.
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
  // The calls that follow are the first ones of a communicator.
  void use_new_communicator();

  // New data for the next stretch; the roots move on.
  void prepare();
  // All calls of the stretch.
  void carry_out(Side side);
  // Did they do what they had to?
  bool is_right() const;
  // The same for barriers, which move nothing that could be looked at afterwards: does everybody
  // see behind it what all did before it?
  bool is_right_barrier(Side side);

 private:
  // Calls of a stretch that differ in anything.
  int kinds() const { return order_.timing == Timing::osu ? 1 : order_.calls; }
  int root(int call) const { return (turn_ + call) % shared_.ranks(); }
  std::uint32_t stamp(int call) const { return stamp_ + static_cast<std::uint32_t>(call); }
  CallData call_data(int call) const;

  Sides sides_;  // its world is the communicator in use
  const SharedState& shared_;
  const mpi::Comm world_;
  Order order_{};
  Buffer inputs_;
  Buffer outputs_;
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
