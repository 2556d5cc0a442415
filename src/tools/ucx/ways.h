// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ways of a message inside a node as the machine file has measured them, with as many ranks at
// work as there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"

namespace huddle::ucx {

// Copied into shared memory by its sender and out by its receiver. The other ways are paths into a
// peer's memory, by their names in the machine file: "cma", "knem", "xpmem".
inline constexpr std::string_view shared_memory = "copied";

// The ways that this machine has, in the order of its file.
std::vector<std::string> ways_of(const machine::Machine& machine);

// Nanoseconds of one message while all of so many ranks receive one; infinity for a way that the
// machine does not have.
double way_ns(const machine::CostModel& model, std::string_view way, double bytes, int ranks);

}  // namespace huddle::ucx
