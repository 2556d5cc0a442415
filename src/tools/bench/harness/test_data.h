// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What each operation is to a benchmark, whoever carries it out: how much memory a call takes, with
// which data, and what has to come of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/select/operation.h"

namespace huddle::bench {

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
