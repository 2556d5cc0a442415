// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measures how well the agent observes the sharing of a running program whose pattern is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/threads/agent.h"
#include "placement/threads/pattern.h"
#include "placement/threads/session.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// Return the number of shared regions (known) or of observed events (seen) for each pair of
// threads, in the same order of pairs.
std::vector<double> known_pairs(Pattern pattern, bool is_second_half);
std::vector<double> seen_pairs(const SharingMatrix& matrix, const std::vector<int>& threads);

// Returns the cosine of the angle between the two vectors; nothing if one of them is zero.
std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b);
// Returns Spearman's rank correlation; nothing if all values of one vector are equal.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

struct Accuracy {
  Pattern pattern = Pattern::pairs;
  std::optional<double> cosine = {};  // at the end; for Pattern::change, of the second half only
  std::optional<double> rank = {};
  // seconds after which the cosine no longer fell below 0.9; since the change, if there is one
  std::optional<double> good_after_s = {};
  double counts = 0;  // sum of all observed events
  // Seconds until the first decision to move, on a machine with four caches whose threads start
  // apart from their partners.
  std::optional<double> moved_after_s = {};
  Reason verdict = Reason::one_thread;  // reason of most decisions
  bool sees_reads = false;
  Watched watched = {};
};

inline constexpr double good_cosine = 0.9;

// `program` runs the patterns; its file, environment and helper must be set. `balancing` makes
// reads visible; without it only writes are seen.
Accuracy measure_accuracy(Pattern pattern, int seconds, WatchedProgram program,
                          NumaBalancing* balancing = nullptr);

}  // namespace huddle::threads
