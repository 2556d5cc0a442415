// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Touches of synthetic programs, generated from a seed, to repeat published experiments.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/threads/touch.h"

namespace huddle::threads {

// Groups of threads that use the same pages. The groups change from phase to phase.
struct ChangingProgram {
  int threads = 16;
  int group = 2;           // threads per group
  int phases = 6;          // each with random groups
  int phase_ms = 2000;     // duration of a phase
  int touches_a_ms = 8;    // observed touches, of all threads together
  double elsewhere = 0.3;  // fraction of touches on pages that all groups share
  std::uint64_t seed = 1;
};
Events events_of(const ChangingProgram& program);

// Passages around a rotor, several in a row per thread. Each shares its edges with its neighbours,
// and the last one with the first.
struct Passages {
  int passages = 36;
  // at most `passages`; some threads have one more than others if it does not divide evenly
  int threads = 36;
  int milliseconds = 3000;
  int touches_a_ms = 8;
  std::uint64_t seed = 1;
};
Events events_of(const Passages& program);

// Returns a random placement of the threads, distributed evenly over the minimum number of sockets
// with `processors_a_socket` hardware threads.
std::vector<int> seats_without_order(int threads, int processors_a_socket, std::uint64_t seed);
void assignment(Events& events, const std::vector<int>& processors);

}  // namespace huddle::threads
