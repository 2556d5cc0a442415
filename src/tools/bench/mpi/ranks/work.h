// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The calls of one stretch: the same buffers for both sides, with data that change from call to
// call and are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/ranks/call_functions.h"
#include "tools/bench/mpi/ranks/shared_state.h"
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

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
