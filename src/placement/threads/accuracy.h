// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How well the sharing of a known pattern is seen while it runs.
#pragma once

#include <optional>
#include <string>

#include "placement/threads/agent.h"
#include "placement/threads/pattern.h"
#include "placement/threads/session.h"

namespace huddle::threads {

struct Accuracy {
  Pattern pattern = Pattern::pairs;
  std::optional<double> cosine = {};  // at the end; of a change only what came after it
  std::optional<double> rank = {};
  std::optional<double> good_after_s = {};  // the cosine reached 0.9 and stayed; since the change
  double counts = 0;                        // all that was seen to be shared
  // What would be done on a machine of four caches, where those who share sit apart at the start.
  std::optional<double> moved_after_s = {};
  Reason verdict = Reason::one_thread;  // of most decisions
  bool sees_reads = false;
  Watched watched = {};
};

inline constexpr double good_cosine = 0.9;

// `program`: the one that runs patterns; its file, environment and helper. `balancing`: what makes
// reads visible; null: nothing does.
Accuracy measure_accuracy(Pattern pattern, int seconds, WatchedProgram program,
                          NumaBalancing* balancing = nullptr);

}  // namespace huddle::threads
