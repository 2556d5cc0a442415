// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Threads that measure: one for each processor, pinned to it, kept from one measurement to the next
// so that none of them pays for starting a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "runtime/memory/cpu.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {

class Crew {
 public:
  // pre: no processor twice. Throws FailureError naming a processor that threads may not run on.
  explicit Crew(std::span<const int> pus);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Runs work(i) on the thread of pus[i], all at once, and waits for all. The first exception of a
  // thread is thrown on. pre: each is a processor of the crew, none twice.
  std::vector<ThreadUse> run(std::span<const int> pus,
                             const std::function<void(std::size_t)>& work);

 private:
  class Member;
  Member& member(int pu) const;

  std::unordered_map<int, std::unique_ptr<Member>> members_;  // by processor
};

// A point that all of a few running threads reach before any goes on. They spin: sleepers would
// start microseconds apart.
class StartLine {
 public:
  explicit StartLine(std::size_t threads) : threads_(threads) {}
  void wait();
  // For a thread that fails before or after it arrived: nobody waits any more.
  void give_up();

 private:
  const std::size_t threads_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<bool> given_up_{false};
};

// Flags that measuring threads wait for, and where in memory they lie.

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
