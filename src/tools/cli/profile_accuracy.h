// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile --accuracy`: programs whose sharing is known are watched, and what is seen is
// held against that.
#pragma once

#include <string>
#include <vector>

#include "placement/threads/accuracy.h"
#include "tools/cli/command.h"

namespace huddle::cli {

struct AccuracyQuestion {
  std::string pattern;  // empty: all
  int seconds = 3;      // of each
  threads::Observer observer = threads::Observer::perf;
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool json = false;
};

// A finding (exit status 1) where a pattern was not seen well enough.
ExitCode profile_accuracy(const Context& context, const AccuracyQuestion& question);

// What is to be expected of a pattern: empty where it was met, else what was not.
std::string shortfall(const threads::Accuracy& accuracy);

std::string accuracy_text(const std::vector<threads::Accuracy>& all, const Console& console);
std::string accuracy_json(const std::vector<threads::Accuracy>& all);

}  // namespace huddle::cli
