// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle explain --guidelines`: performance guidelines over the predicted times of what huddle
// would run. Candidates are compared by the same model, so a violation means that the selection
// lacks a candidate, or that the model contradicts itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/bench/harness/guideline.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/picture/picture.h"

namespace huddle::cli {

// The options of the command line.
struct GuidelinesQuestion {
  std::string ops;    // as in `huddle bench --ops`; empty: all
  std::string sizes;  // as in `huddle bench --sizes`; empty: the usual ones
  std::string binding = "core";
  int ranks = 0;  // 0: several numbers up to the number of cores
  double tolerance = bench::usual_tolerance;
};

// A predicted time with the names of the algorithms.
struct PredictedCalls {
  double ns = 0;
  std::string algorithms;
};

struct PredictedGuideline {
  bench::GuidelinePoint point;
  int ranks = 2;
  PredictedCalls call;
  PredictedCalls mockup;

  double ratio() const { return call.ns / mockup.ns; }
};

struct GuidelinesExplained {
  picture::Subject subject;  // the machine
  std::vector<int> ranks;    // the numbers of ranks
  double tolerance = bench::usual_tolerance;
  std::size_t points = 0;   // all that were predicted
  std::size_t unknown = 0;  // points without a prediction
  std::vector<PredictedGuideline> violations;
};

// Returns 2, 3, 4, 6, 8, 12, ... up to 256 and to the number of cores, and that number itself:
// powers of two and the numbers halfway between them.
std::vector<int> guideline_ranks(int cores);

// Throws UsageError if an option is wrong.
GuidelinesExplained guidelines_explained(const Context& context, const picture::Subject& subject,
                                         const GuidelinesQuestion& question);

// `all`: lists every violation with its algorithms, otherwise one line per guideline.
std::string explain_guidelines_text(const GuidelinesExplained& explained, bool all,
                                    const Console& console);
std::string explain_guidelines_json(const GuidelinesExplained& explained);

}  // namespace huddle::cli
