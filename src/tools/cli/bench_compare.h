// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Two results of `huddle bench` with an MPI side by side: what has become faster, what slower.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/order.h"

namespace huddle::cli {

// What a file that `huddle bench --json FILE` wrote says of one point.
struct MeasuredPoint {
  std::string operation;
  std::size_t bytes = 0;
  std::string rival;
  double huddle_ns = 0;
  bench::Estimate estimate;  // of the ratio to the rival
};

struct MeasuredRun {
  std::string path;
  std::string machine;
  std::string huddle;  // its version
  std::string under;
  int ranks = 0;
  std::string timing = std::string(name(bench::Timing::apart));  // early files do not say it
  std::vector<std::string> mpis;
  std::vector<MeasuredPoint> points;
};

// Throws InputError with a sentence that says what is wrong with the file.
MeasuredRun read_measured_run(const std::string& path);

// The same point in both runs.
struct Change {
  MeasuredPoint before;
  MeasuredPoint after;

  // How many times faster huddle has become: by its ratios to what was measured in the same
  // minutes, since the machine may be another today. The interval holds that whatever the two of
  // theirs hold.
  bench::Estimate estimate() const;
  bool is_slower_than_bar() const;  // for certain
};

// In the order of the first run.
std::vector<Change> changes(const MeasuredRun& before, const MeasuredRun& after);

// With what has changed between the two.
std::string bench_compare_text(const MeasuredRun& before, const MeasuredRun& after,
                               const std::vector<Change>& all, int columns);

}  // namespace huddle::cli
