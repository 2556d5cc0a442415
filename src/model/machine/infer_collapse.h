// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The second half of inferring levels: takes out of a tree of joins every step that noise explains.
#pragma once

#include <cstddef>
#include <vector>

#include "model/machine/infer_linkage.h"

namespace huddle::machine {

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
