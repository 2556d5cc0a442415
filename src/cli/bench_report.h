// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Everything that one run of `huddle bench` found out.
#pragma once

#include <string>
#include <vector>

#include "cli/prediction_error.h"
#include "contest/contest.h"
#include "machine/machine.h"

namespace huddle::cli {

// In place of a file: measured quickly, at the beginning of the run.
inline constexpr const char* measured_now = "measured at the beginning of this run";

struct BenchReport {
  machine::Machine machine;
  std::string machine_file;  // empty: generic constants; or measured_now
  bool quick = false;
  int rounds = 0;  // asked for
  bool interrupted = false;
  std::vector<std::string> notes;
  std::vector<contest::Result> results;

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

}  // namespace huddle::cli
