// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Parts that the engine benchmark and the MPI benchmark share: the barrier between timed stretches,
// and test data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/select/operation.h"

namespace huddle::bench {

// A barrier for the harness, independent of all barriers that are timed.
class HarnessBarrier {
 public:
  // `oversubscribed`: ranks share hardware threads, so waiting ranks yield.
  HarnessBarrier(int ranks, bool oversubscribed) : ranks_(ranks), oversubscribed_(oversubscribed) {}

  void wait();

 private:
  const int ranks_;
  const bool oversubscribed_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> opened_{0};  // number of completed barriers
};

// Test data differ by position and by stretch, so that stale or misplaced data are detected.

// Returns the stamp of the data that rank `from` has for rank `to`. Each pair has a different
// stamp.
std::uint32_t stamp_of(std::uint32_t stamp, int from, int to);

// Write and check data as 8-byte words.
// Requires: whole, aligned words.
void fill_words(std::span<std::byte> data, std::uint32_t stamp);
bool has_words(std::span<const std::byte> data, std::uint32_t stamp);

// Writes doubles whose sums over all ranks are exact.
void fill_numbers(std::span<std::byte> data, std::uint32_t stamp, int rank);
// Returns whether `data` contains the sums over all ranks, beginning with the element `first`.
bool has_sums(std::span<const std::byte> data, std::uint32_t stamp, int ranks, std::size_t first);

// The arguments of a call on the calling rank. `bytes` is the whole message of a broadcast or
// reduction, and one block of an operation that moves or reduces blocks. A broadcast goes from the
// root's output to the output of all ranks.
struct CallData {
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::size_t bytes = 0;
  std::uint32_t stamp = 0;
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

// Test data of an operation, whatever its implementation: buffer sizes, inputs and results.
struct TestData {
  // True if the buffer holds one block per rank on at least one rank.
  bool input_in_blocks = false;
  bool output_in_blocks = false;
  void (*fill)(const CallData& at) = nullptr;
  bool (*is_right)(const CallData& at) = nullptr;
};

// Returns the test data of an operation.
// Requires: the operation is not a barrier and can be timed.
TestData test_data_of(select::Operation operation);

}  // namespace huddle::bench
