// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The benchmark's own barrier, between timed stretches: never one of those that are timed.
#pragma once

#include <atomic>

namespace huddle::bench {

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

}  // namespace huddle::bench
