// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/work.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "common/round_up.h"

namespace huddle::bench::ranks {
namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

std::byte* Buffer::at_least(std::size_t bytes, bool fresh) {
  if (bytes > bytes_ || fresh) {
    bytes_ = round_up(bytes, page_bytes);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, bytes_)));
    if (memory_ == nullptr) throw std::bad_alloc();
    if (!fresh) std::memset(memory_.get(), 0, bytes_);
  }
  return memory_.get();
}

void Work::begin(const Order& order) {
  order_ = order;
  if (order.operation == Operation::barrier) return;
  const bench::TestData test_data = bench::test_data_of(order.operation);
  const auto ranks = static_cast<std::size_t>(shared_.ranks());
  const auto kinds_of_calls = static_cast<std::size_t>(kinds());
  const bool fresh = order.timing == Timing::cold;
  input_stride_ = round_up(order.bytes * (test_data.input_in_blocks ? ranks : 1), apart);
  output_stride_ = round_up(order.bytes * (test_data.output_in_blocks ? ranks : 1), apart);
  input_ = inputs_.at_least(kinds_of_calls * input_stride_, fresh);
  output_ = outputs_.at_least(kinds_of_calls * output_stride_, fresh);
  byte_counts_.assign(ranks, static_cast<int>(order.bytes));
  number_counts_.assign(ranks, static_cast<int>(order.bytes / sizeof(double)));
  byte_places_.clear();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    byte_places_.push_back(static_cast<int>(rank * order.bytes));
  }
}

void Work::use_new_communicator() { sides_.service.comm_dup(world_, &sides_.world); }

CallData Work::call_data(int call) const {
  const auto number = static_cast<std::size_t>(call);
  return {{shared_.rank(), shared_.ranks(), root(call), order_.bytes, stamp(call),
           input_ + number * input_stride_, output_ + number * output_stride_},
          byte_counts_,
          byte_places_,
          number_counts_};
}

void Work::prepare() {
  stamp_ += static_cast<std::uint32_t>(kinds());
  turn_ = order_.timing == Timing::osu ? 0 : (turn_ + kinds()) % shared_.ranks();
  if (order_.operation == Operation::barrier) return;
  const bench::TestData test_data = bench::test_data_of(order_.operation);
  for (int call = 0; call < kinds(); ++call) test_data.fill(call_data(call));
}

void Work::carry_out(Side side) {
  const Functions& mpi = sides_.side(side);
  if (order_.operation == Operation::barrier) {
    for (int call = 0; call < order_.calls; ++call) mpi.barrier(sides_.world);
    return;
  }
  CallFunction* const call_function = call_function_of(order_.operation);
  for (int call = 0; call < order_.calls; ++call)
    call_function(mpi, sides_, call_data(call % kinds()));
}

bool Work::is_right() const {
  if (order_.operation == Operation::barrier) return true;
  const bench::TestData test_data = bench::test_data_of(order_.operation);
  bool right = true;
  for (int call = 0; call < kinds(); ++call) right = right && test_data.is_right(call_data(call));
  return right;
}

bool Work::is_right_barrier(Side side) {
  bool right = true;
  for (int call = 0; call < order_.calls; ++call) {
    shared_.mine().mark.store(stamp(call), std::memory_order_relaxed);
    sides_.side(side).barrier(sides_.world);
    for (int rank = 0; rank < shared_.ranks(); ++rank) {
      const auto ahead = static_cast<std::int32_t>(
          shared_.slot(rank).mark.load(std::memory_order_relaxed) - stamp(call));
      right = right && ahead >= 0;
    }
  }
  return right;
}

}  // namespace huddle::bench::ranks
