// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measuring threads: one per hardware thread, pinned to it, and reused for all measurements so that
// none of them includes the start of a thread. Also the flags through which they synchronize.
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

// One thread for each hardware thread that takes part in a calibration.
class MeasuringThreads {
 public:
  // Throws FailureError if a thread cannot be pinned. The message names the hardware thread.
  // Requires: `pus` contains no duplicates.
  explicit MeasuringThreads(std::span<const int> pus);
  ~MeasuringThreads();
  MeasuringThreads(const MeasuringThreads&) = delete;
  MeasuringThreads& operator=(const MeasuringThreads&) = delete;

  // Runs work(i) on the thread of pus[i], all at the same time, and waits for all. Rethrows the
  // first exception of a thread.
  // Requires: all `pus` belong to the crew, without duplicates.
  std::vector<ThreadUse> run(std::span<const int> pus,
                             const std::function<void(std::size_t)>& work);

 private:
  class Member;
  Member& member(int pu) const;

  std::unordered_map<int, std::unique_ptr<Member>> members_;  // by hardware thread
};

// A spinning barrier for the start of a measurement. Sleeping threads would start microseconds
// apart.
class StartLine {
 public:
  explicit StartLine(std::size_t threads) : threads_(threads) {}
  void wait();
  // Releases all waiting threads. Called if a thread fails before or after it has arrived.
  void abandon();

 private:
  const std::size_t threads_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<bool> abandoned_{false};
};

// Distance of flags that must not share a cache line: some CPUs prefetch pairs of 64-byte lines,
// and a cache line of the A64FX has 256 bytes.
inline constexpr std::size_t false_sharing_bytes = 256;

using Count = std::uint32_t;
// Ends an exchange. No round has this number.
inline constexpr Count quit = std::numeric_limits<Count>::max();

struct alignas(false_sharing_bytes) Flag {
  std::atomic<Count> value{0};
};

// Objects that measuring threads share, in pages that the thread of `pu` touches first. The NUMA
// node of a flag is part of the measurement and must not depend on where the main thread runs.
template <class T>
class Placed {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  Placed(MeasuringThreads& crew, int pu, std::size_t count = 1) : pages_(count * sizeof(T)) {
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

// Spins until a flag that only increases has reached `count`. Returns its value.
inline Count await(const std::atomic<Count>& flag, Count count) {
  Count seen = flag.load(std::memory_order_acquire);
  while (seen < count) {
    memory::spin_pause();
    seen = flag.load(std::memory_order_acquire);
  }
  return seen;
}

}  // namespace huddle::calibrate
