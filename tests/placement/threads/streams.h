// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Touches of programs that nobody runs, from a seed: what the published experiments are repeated
// on.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/threads/touch.h"

namespace huddle::threads {

// Threads in groups that use the same pages, and are grouped anew again and again.
struct ChangingProgram {
  int threads = 16;
  int group = 2;           // threads of a group
  int phases = 6;          // each with a grouping drawn at random
  int phase_ms = 2000;     // that it stays
  int touches_a_ms = 8;    // that are seen, of all threads together
  double elsewhere = 0.3;  // of these, on pages of no group: what everybody uses
  std::uint64_t seed = 1;
};
Events events_of(const ChangingProgram& program);

// Passages around a rotor, some in a row to each thread, of which each shares its edges with the
// next one's, and the last one's with the first.
struct Passages {
  int passages = 36;
  int threads = 36;  // not more; some have one more than others where they do not divide them
  int milliseconds = 3000;
  int touches_a_ms = 8;
  std::uint64_t seed = 1;
};
Events events_of(const Passages& program);

// Where threads sit: on as many sockets of so many processors as they need, shared out evenly, and
// in no order.
std::vector<int> seats_without_order(int threads, int processors_a_socket, std::uint64_t seed);
void seat(Events& events, const std::vector<int>& processors);

}  // namespace huddle::threads
