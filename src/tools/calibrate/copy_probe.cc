// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/copy_probe.h"

#include <algorithm>

#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {

std::size_t repeats_for(std::size_t bytes) {
  // About 10 us at 50 bytes a nanosecond, against 25 ns for reading the clock.
  constexpr std::size_t bytes_a_sample = 512 * 1024;
  return std::max<std::size_t>(1, bytes_a_sample / std::max<std::size_t>(1, bytes));
}

CopyProbe::CopyProbe(Crew& crew, std::span<const int> pus, std::size_t most_bytes)
    : crew_(crew), pus_(pus.begin(), pus.end()), buffers_(pus.size()) {
  crew_.run(pus_, [&](std::size_t who) {
    buffers_[who] = {memory::PageBuffer(most_bytes), memory::PageBuffer(most_bytes)};
    buffers_[who].source.touch();
    buffers_[who].target.touch();
  });
}

Samples CopyProbe::time(std::size_t bytes, memory::CopyKernel kernel, const Extent& extent,
                        const Budget& budget) {
  return time_together(crew_, pus_, repeats_for(bytes), extent, budget,
                       [&](std::size_t who, std::size_t repeat) {
                         const Buffers& own = buffers_[who];
                         for (std::size_t i = 0; i < repeat; ++i) {
                           copy_bytes(kernel, own.target.data(), own.source.data(), bytes);
                         }
                       });
}

}  // namespace huddle::calibrate
