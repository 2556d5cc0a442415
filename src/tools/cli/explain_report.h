// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle explain` prints.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/select/explain.h"
#include "tools/cli/console.h"
#include "tools/picture/picture.h"

namespace huddle::cli {

struct Explained {
  select::Explanation explanation;
  std::vector<int> processors;  // by rank
  picture::Subject subject;     // the machine
  std::string binding = {};     // to what ranks are bound, as --bind has it
  bool has_heap = false;        // the ranks share one
  double error = 0;             // of predictions on this machine, as a share
  // What the protocol takes in a modelled world; empty where that was not asked for.
  std::function<double(const select::Candidate&)> simulated_ns = {};
};

// all: every candidate; otherwise the cheapest few.
std::string explain_text(const Explained& explained, bool all, const Console& console);
// One document on one line, with every candidate.
std::string explain_json(const Explained& explained);

}  // namespace huddle::cli
