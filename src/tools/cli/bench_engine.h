// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench engine` found out, and how it is said.
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"
#include "tools/cli/prediction_error.h"

namespace huddle::cli {

// In place of a file: measured quickly, at the beginning of the run.
inline constexpr const char* measured_now = "measured at the beginning of this run";

struct EngineBenchReport {
  machine::Machine machine;
  std::string machine_file;  // empty: generic constants; or measured_now
  bool quick = false;
  int rounds = 0;  // asked for
  bool interrupted = false;
  std::vector<std::string> notes;
  std::vector<bench::Result> results;

  bool all_hold() const {
    for (const auto& result : results) {
      for (const auto& verdict : result.verdicts) {
        if (!verdict.holds) return false;
      }
    }
    return true;
  }
  // Of whatever was predicted.
  PredictionError prediction_error() const;
};

inline constexpr int bench_json_schema = 1;

std::string bench_json(const EngineBenchReport& report);

// Which machine the figures are of, and how well it is known. machine_file: as in a report.
std::string machine_text(const machine::Machine& machine, const std::string& machine_file);

std::string bench_text(const EngineBenchReport& report, int columns);

}  // namespace huddle::cli
