// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/select/operation.h"

namespace huddle::bench {

// The benchmark's own barrier, between timed stretches: never one of those that are timed.
class HarnessBarrier {
 public:
  // crowded: ranks share processors, so whoever waits gives its own away.
  HarnessBarrier(int ranks, bool crowded) : ranks_(ranks), crowded_(crowded) {}

  void wait();

 private:
  const int ranks_;
  const bool crowded_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> opened_{0};  // times
};

// Data that differ from place to place and from stretch to stretch, so that none can be mistaken
// for other data.

// Of what one rank has for another: it differs from all else.
std::uint32_t stamp_of(std::uint32_t stamp, int from, int to);

// As 8-byte words. pre: a whole number of them, aligned.
void fill_words(std::span<std::byte> data, std::uint32_t stamp);
bool has_words(std::span<const std::byte> data, std::uint32_t stamp);

// As doubles that add up exactly; and the sums of what all ranks have.
void fill_numbers(std::span<std::byte> data, std::uint32_t stamp, int rank);
// `first`: where the sums begin among all.
bool has_sums(std::span<const std::byte> data, std::uint32_t stamp, int ranks, std::size_t first);

// What each operation is to a benchmark, whoever carries it out: how much memory a call takes, with
// which data, and what has to come of it.

// One call as this rank makes it. `bytes`: of a broadcast and of a reduction, all; of what moves or
// is reduced in blocks, a block. A broadcast goes from the root's output to everybody's.
struct CallData {
  int rank = 0;
  int ranks = 1;
  int root = 0;
  std::size_t bytes = 0;
  std::uint32_t stamp = 0;
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

struct TestData {
  // Whether a block for, or from, each rank, on one rank at least.
  bool input_in_blocks = false;
  bool output_in_blocks = false;
  void (*fill)(const CallData& at) = nullptr;
  bool (*is_right)(const CallData& at) = nullptr;
};

// pre: not a barrier, and one that can be timed.
TestData test_data_of(select::Operation operation);

}  // namespace huddle::bench
