// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle calibrate --json` prints: docs/records/0004-measuring.md describes it.
#pragma once

#include <string>
#include <vector>

#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/plan.h"

namespace huddle::cli {

inline constexpr int calibrate_json_schema = 1;

std::string plan_json(const calibrate::Plan& plan);
// `file` is where the machine was written.
std::string outcome_json(const calibrate::Outcome& outcome, const std::string& file);
// words: of the command that measures.
std::string network_plan_json(const std::vector<std::string>& steps,
                              const std::vector<std::string>& words, bool quick);
// The machine with what was measured between nodes.
std::string network_json(const machine::Machine& machine, const std::string& file);

}  // namespace huddle::cli
