// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The report of `huddle bench --guidelines` as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/harness/guideline.h"
#include "tools/bench/mpi/measure_guidelines.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/bench/mpi/order.h"

namespace huddle::cli {

struct GuidelinesReport {
  bench::GuidelineReport measured;
  std::vector<bench::GuidelinePoint> points;  // as requested; a dry run only lists them
  machine::Machine machine;
  std::string machine_file;  // empty: generic constants
  int ranks = 2;
  bool in_heap = false;  // the buffers are in the shared heap
  bool quick = false;
  bool dry_run = false;
  bench::Timing timing = bench::Timing::apart;
  bench::Effort effort;
  double tolerance = bench::usual_tolerance;
  // Options with which the measurement can be repeated; empty: not given.
  std::string ops;
  std::string sizes;
  std::string mpi;  // the launcher
  std::string mpi_library;
};

inline constexpr int guidelines_json_schema = 1;

std::string guidelines_text(const GuidelinesReport& report, int columns);
std::string guidelines_json(const GuidelinesReport& report);

}  // namespace huddle::cli
