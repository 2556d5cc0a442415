// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One cache line on its way between two cores, and what more readers or writers add to that.
#pragma once

#include <span>

#include "tools/calibrate/crew.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

enum class LineUse {
  own_lines,    // each side stores into a line of its own
  shared_line,  // both sides store into the same line, a word each
};

// Half the round trip between two processors. A sample is the mean of a batch of round trips.
Samples time_line(Crew& crew, int a, int b, LineUse use, const Extent& extent,
                  const Budget& budget);

// From the store of pus[0] until the last of the others, all waiting for it, has seen it. The two
// readings of the clock are in it; they cancel in the difference between two numbers of readers.
Samples time_readers(Crew& crew, std::span<const int> pus, const Extent& extent,
                     const Budget& budget);

// pus[0] calls, each of the others answers with a flag of its own, all flags in one line; until
// pus[0] has seen them all.
Samples time_packed_flags(Crew& crew, std::span<const int> pus, const Extent& extent,
                          const Budget& budget);

// So many flags of four bytes fit into a line.
inline constexpr std::size_t most_packed_flags = 16;

}  // namespace huddle::calibrate
