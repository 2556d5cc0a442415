// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times repeated work on one or more hardware threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Runs the work on all `pus` at the same time and stops them together, so that every sample has the
// same contention. A sample is the mean of `repeat` executions; work(who, repeat) executes the work
// `repeat` times.
Samples time_together(MeasuringThreads& crew, std::span<const int> pus, std::size_t repeat,
                      const Extent& extent, const Budget& budget,
                      const std::function<void(std::size_t who, std::size_t repeat)>& work);

// Work on one hardware thread. prepare() is not timed; a sample is work()'s time per piece.
struct Prepared {
  std::function<void()> prepare;
  std::function<void()> work;
  std::size_t pieces = 1;
};
Samples time_prepared(MeasuringThreads& crew, int pu, const Prepared& prepared,
                      const Extent& extent, const Budget& budget);

// Rounds of two phases, separated by barriers: in the first phase all threads prepare, in the
// second the first `timed` threads work. A sample is the time of work() divided by `pieces`. The
// first round is a warm-up.
struct Rounds {
  std::size_t timed = 1;
  std::size_t pieces = 1;
  std::function<void(std::size_t who, std::uint32_t round)> prepare;
  std::function<void(std::size_t who, std::uint32_t round)> work;
};
Samples time_rounds(MeasuringThreads& crew, std::span<const int> pus, const Rounds& rounds,
                    const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
