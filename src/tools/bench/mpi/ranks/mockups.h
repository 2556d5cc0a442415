// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The mock-ups of performance guidelines (guideline.h). Each leaves the same result in the same
// buffers as the operation that it replaces, so the same check applies to it.
#pragma once

#include <cstddef>

#include "tools/bench/harness/guideline.h"
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

// Two areas of scratch_bytes() bytes each, which the calls of a stretch use in turn. A program
// would keep them as well, so their allocation is not timed.
struct Scratch {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

using MockupFunction = void(const Functions& mpi, const Sides& sides, const CallData& at,
                            const Scratch& scratch);

// Returns the function that runs the calls of a mock-up.
// Requires: `mockup` is not `none`. Buffers that are split into parts hold p parts, which may
// exceed the message by less than p elements.
MockupFunction* mockup_function_of(Mockup mockup);

}  // namespace huddle::bench::ranks
