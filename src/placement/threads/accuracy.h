// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How well the sharing of a known pattern is seen while it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/threads/agent.h"
#include "placement/threads/pattern.h"
#include "placement/threads/session.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// How much a matrix that was seen is like the one that is known.

// By pair of threads, the same pairs in the same order for both.
std::vector<double> known_pairs(Pattern pattern, bool is_second_half);
std::vector<double> seen_pairs(const SharingMatrix& matrix, const std::vector<int>& threads);

// Cosine of the angle between the two; nothing where one of them is zero.
std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b);
// Spearman's; nothing where all of one are equal.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

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
