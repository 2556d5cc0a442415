// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flags that measuring threads wait for. Pairs of lines are fetched together by some processors, so
// flags that must not touch each other lie two lines apart.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "memory/spin.h"

namespace huddle::calibrate {

inline constexpr std::size_t apart_bytes = 128;

using Count = std::uint32_t;
// Ends a conversation: no round has this number.
inline constexpr Count quit = std::numeric_limits<Count>::max();

struct alignas(apart_bytes) Flag {
  std::atomic<Count> value{0};
};

inline void publish(std::atomic<Count>& flag, Count count) {
  flag.store(count, std::memory_order_release);
}

// Waits until a flag that only rises has reached the count; returns what it then holds.
inline Count await(const std::atomic<Count>& flag, Count count) {
  Count seen = flag.load(std::memory_order_acquire);
  while (seen < count) {
    memory::spin_pause();
    seen = flag.load(std::memory_order_acquire);
  }
  return seen;
}

}  // namespace huddle::calibrate
