// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is seen of a program's threads, as it happens or as it was recorded. Threads are numbered
// from 0 in the order in which they were first seen.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace huddle::threads {

// More are not told apart; touches of others are left out.
inline constexpr int most_threads = 4096;

// A page fault: this thread has touched that page.
struct Touch {
  std::uint64_t time_ns = 0;
  int thread = 0;
  std::uint64_t page = 0;  // address / page size
  bool write = true;

  bool operator==(const Touch&) const = default;
};

struct ThreadUse {
  int thread = 0;
  std::uint64_t cpu_ns = 0;  // used since it was born
  int processor = 0;         // that it ran on last

  bool operator==(const ThreadUse&) const = default;
};

// What /proc says of all threads at one moment. Time passes by these: decisions are made at them.
struct Look {
  std::uint64_t time_ns = 0;
  std::vector<ThreadUse> threads;  // those alive
  // Numbers that another thread has by now than at the last look. A recording has none.
  std::vector<int> reused = {};

  bool operator==(const Look&) const = default;
};

// In the order of time.
using Events = std::vector<std::variant<Touch, Look>>;

}  // namespace huddle::threads
