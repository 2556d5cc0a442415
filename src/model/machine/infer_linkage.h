// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The two halves of level inference: hierarchical clustering of the cores into a binary tree,
// nearest first, and removal of those levels of the tree that noise explains.
#pragma once

#include <cstddef>
#include <vector>

namespace huddle::machine {

// Logarithms of the latencies between cores, so that equal steps are equal ratios. Symmetric.
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

// A merge of two nodes of the tree. Nodes 0 to cores - 1 are the cores; merge i creates node cores
// + i.
struct Join {
  std::size_t left = 0;
  std::size_t right = 0;
  std::size_t cores = 0;       // number of cores below it
  std::vector<double> across;  // log-latencies between cores of left and of right, ascending
};

// Returns the lower median: always one of the values and, of two middle ones, the smaller, because
// disturbances make a pair slower, never faster. Requires: sorted, not empty.
double lower_median(const std::vector<double>& sorted);

// Returns cores - 1 merges, children before parents.
std::vector<Join> join_nearest(const LogLatencies& latencies);

// A group of cores and its parts; all pairs of cores in different parts have about the same
// latency.
struct Step {
  double log_latency = 0;
  std::vector<std::size_t> cores;  // cores that are in none of its parts
  std::vector<Step> parts;
};

// Returns the tree without the steps that noise explains. `sampling_noise` is the standard error of
// the logarithm of a pair's latency, from its samples; 0 if there are none.
// Requires: at least one merge.
Step collapse(const std::vector<Join>& joins, double sampling_noise);

}  // namespace huddle::machine
