// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flags that measuring threads wait for, and where in memory they lie.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include "runtime/memory/page_buffer.h"
#include "runtime/memory/spin.h"
#include "tools/calibrate/crew.h"

namespace huddle::calibrate {

// Flags that must not touch each other lie so far apart: some processors fetch pairs of lines of 64
// bytes together, and a line of the A64FX has 256.
inline constexpr std::size_t apart_bytes = 256;

using Count = std::uint32_t;
// Ends a conversation: no round has this number.
inline constexpr Count quit = std::numeric_limits<Count>::max();

struct alignas(apart_bytes) Flag {
  std::atomic<Count> value{0};
};

// Things that measuring threads share, in pages that the thread of `pu` touches first: on which
// node a flag lies is part of what is measured, so it must not be the node on which the main thread
// happens to run.
template <class T>
class Placed {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  Placed(Crew& crew, int pu, std::size_t count = 1) : pages_(count * sizeof(T)) {
    crew.run(std::array{pu}, [&](std::size_t) {
      for (std::size_t i = 0; i < count; ++i) new (pages_.data() + i * sizeof(T)) T();
    });
    things_ = {std::launder(reinterpret_cast<T*>(pages_.data())), count};
  }
  T& operator*() const { return things_.front(); }
  T* operator->() const { return things_.data(); }
  std::span<T> all() const { return things_; }

 private:
  memory::PageBuffer pages_;
  std::span<T> things_;
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
