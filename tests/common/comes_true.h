// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What another process brings about, sooner or later.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace huddle::test {

// Asks again and again, for as long as a machine that is full of other work may take.
inline bool comes_true(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace huddle::test
