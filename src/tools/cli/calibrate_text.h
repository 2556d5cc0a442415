// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle calibrate` says to a person: the plan, and what came out.
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/other_work.h"
#include "tools/calibrate/plan.h"

namespace huddle::cli {

std::string plan_text(const machine::Topology& topology, const calibrate::Plan& plan, int columns);
std::string summary_text(const calibrate::Outcome& outcome, int columns);
// Of `measured` processors these are in use. pre: some are.
std::string other_work_text(const std::vector<calibrate::OtherWork>& work, std::size_t measured);

}  // namespace huddle::cli
