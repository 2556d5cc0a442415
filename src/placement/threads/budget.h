// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What watching may cost: induced faults and the agent's own time, as a share of the processor time
// that the program uses.
#pragma once

#include <algorithm>
#include <cstdint>

namespace huddle::threads {

struct Spent {
  double program_s = 0;      // processor time of the program
  double agent_s = 0;        // of the agent
  std::uint64_t faults = 0;  // induced

  double cost_s(double fault_s) const { return agent_s + static_cast<double>(faults) * fault_s; }
};

struct Budget {
  double share = 0.02;
  double fault_s = 6e-6;  // what a fault costs the program, measured here
  // Once, of a process: what was not spent while nothing could be seen does not come as one burst.
  int most_faults = 256;

  // Of so many processes together.
  int faults_left(const Spent& spent, int processes) const {
    const double left_s = share * spent.program_s - spent.cost_s(fault_s);
    const double most = static_cast<double>(most_faults) * processes;
    return static_cast<int>(std::clamp(left_s / fault_s, 0.0, most));
  }
};

}  // namespace huddle::threads
