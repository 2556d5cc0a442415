// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` with an MPI found out, and how it is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/cli/prediction_error.h"

namespace huddle::cli {

struct MpiBenchReport {
  bench::MpiReport measured;
  machine::Machine machine;
  std::string machine_file;      // empty: generic figures
  std::vector<double> floor_ns;  // of each result, what it cannot be faster than; none: not known
  int ranks = 2;
  bool in_heap = false;  // where the buffers lie
  bool quick = false;
  bench::Timing timing = bench::Timing::apart;
  int cold_calls = 1;
  bench::Effort effort;
  std::string ops;
  std::string sizes;
  int seconds = 0;  // for all points together; 0: that was not asked for
  // What has to be said again to measure the same; empty: not given.
  std::string mpi;  // the launcher, where there is one MPI
  std::string mpi_library;
  std::string peers;

  bool has_peers() const { return measured.mpis.size() > 1; }
  // A point below the bar, in each of its tries.
  bool misses_bar() const;
  PredictionError prediction_error() const;
};

// How far the prediction for a point is off; nothing where there was none, or where huddle left
// calls to the MPI.
std::optional<double> times_off(const bench::PointResult& one);

std::string bench_mpi_text(const MpiBenchReport& report, int columns);

inline constexpr int bench_mpi_json_schema = 1;

std::string bench_mpi_json(const MpiBenchReport& report);

}  // namespace huddle::cli
