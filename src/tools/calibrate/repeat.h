// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The same work again and again on one or more processors, timed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// All work at the same time and stop together, so that every sample saw the same contention. A
// sample is the mean of `repeat` pieces; work(who, repeat) does that many.
Samples time_together(Crew& crew, std::span<const int> pus, std::size_t repeat,
                      const Extent& extent, const Budget& budget,
                      const std::function<void(std::size_t who, std::size_t repeat)>& work);

// One processor; prepare() is not timed, work() does `pieces` of what a sample is the mean of.
struct Prepared {
  std::function<void()> prepare;
  std::function<void()> work;
  std::size_t pieces = 1;
};
Samples time_prepared(Crew& crew, int pu, const Prepared& prepared, const Extent& extent,
                      const Budget& budget);

// Rounds of two halves, and nobody begins a half before all have ended the one before: in the first
// all prepare, in the second the first `timed` do `pieces` of what a sample is the mean of. The
// first round warms up.
struct Rounds {
  std::size_t timed = 1;
  std::size_t pieces = 1;
  std::function<void(std::size_t who, std::uint32_t round)> prepare;
  std::function<void(std::size_t who, std::uint32_t round)> work;
};
Samples time_rounds(Crew& crew, std::span<const int> pus, const Rounds& rounds,
                    const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate
