// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The error of the model: predicted times that differ by less than it count as equal.
#pragma once

#include <cstddef>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/select/candidate.h"

namespace huddle::select {

// Returns the relative error that half of all predictions on this machine exceed: the error found
// by comparing predictions with measurements (docs/model.md), or the median spread of this
// machine's figures if that is larger.
double model_error(const machine::Machine& machine);

// Returns how many of the cheapest candidates are within `error` of the first.
// Requires: `by_cost` is sorted, cheapest first.
std::size_t near_ties(const std::vector<Candidate>& by_cost, double error);

}  // namespace huddle::select
