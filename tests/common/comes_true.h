// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Waits for conditions that another process makes true.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace huddle::test {

// Waits until a condition is true. Returns false after 20 s, long enough even on a busy machine.
inline bool comes_true(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace huddle::test
