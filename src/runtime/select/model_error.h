// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How far predictions are off: what is nearer to each other than that is as good as equal.
#pragma once

#include <cstddef>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/select/candidate.h"

namespace huddle::select {

// As a share: half of all predictions on such a machine are off by more. What predictions were off
// by where they were compared with measurements (docs/model.md), or what this machine's figures
// spread by themselves, if that is more.
double model_error(const machine::Machine& machine);

// How many of the cheapest are no farther from the first than that. pre: cheapest first.
std::size_t near_ties(const std::vector<Candidate>& by_cost, double error);

}  // namespace huddle::select
