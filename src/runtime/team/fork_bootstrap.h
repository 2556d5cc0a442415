// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A bootstrap for processes that one process forks: made before, joined by each after.
#pragma once

#include <chrono>
#include <vector>

#include "runtime/team/hub.h"

namespace huddle::team {

class ForkBootstrap {
 public:
  // Throws FailureError where there are not enough descriptors: two a rank.
  explicit ForkBootstrap(int ranks, std::chrono::milliseconds limit = default_hub_limit);

  // In a process of its own: takes the rank's place and lets go of everybody else's.
  Bootstrap join(int rank);
  // In a thread of its own: takes the rank's place only. Not for several threads at once.
  Bootstrap take(int rank);
  // For the process that forks and is no rank: as long as it holds the places, nobody would notice
  // that a rank has died.
  void leave() { places_.clear(); }

 private:
  std::vector<HubSockets> places_;
  int ranks_;
  std::chrono::milliseconds limit_;
};

}  // namespace huddle::team
