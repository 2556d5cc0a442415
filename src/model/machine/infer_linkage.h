// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The first half of inferring levels: joins cores two by two into a tree, nearest first.
#pragma once

#include <cstddef>
#include <vector>

namespace huddle::machine {

// Natural logarithms of latencies between cores: equal steps are equal ratios. Symmetric.
class LogLatencies {
 public:
  explicit LogLatencies(std::size_t cores) : cores_(cores), values_(cores * cores) {}

  std::size_t cores() const { return cores_; }
  double at(std::size_t a, std::size_t b) const { return values_[a * cores_ + b]; }
  void set(std::size_t a, std::size_t b, double log_latency) {
    values_[a * cores_ + b] = log_latency;
    values_[b * cores_ + a] = log_latency;
  }

 private:
  std::size_t cores_;
  std::vector<double> values_;
};

// Two nodes of the tree that became one. Node numbers below the number of cores are cores; the
// i-th join makes node cores + i.
struct Join {
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t cores = 0;       // below it
  std::vector<double> across;  // logarithms between cores of left and cores of right, rising
};

// The lower median, which is always one of the values and, of two, the smaller: a pair that was
// disturbed is too slow, never too fast. pre: sorted, not empty.
double lower_median(const std::vector<double>& sorted);

// Cores - 1 joins, children before parents.
std::vector<Join> join_nearest(const LogLatencies& latencies);

// The second half of inferring levels: takes out of a tree of joins every step that noise explains.

// A group of cores with one latency between its parts.
struct Step {
  double log_latency = 0;
  std::vector<std::size_t> cores;  // those that stand alone in it
  std::vector<Step> parts;
};

// `sampling_noise`: the standard error of a pair's logarithm, as its samples show it; 0 where there
// are none. pre: at least one join.
Step collapse(const std::vector<Join>& joins, double sampling_noise);

}  // namespace huddle::machine
