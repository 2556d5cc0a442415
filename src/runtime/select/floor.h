// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What no algorithm can be faster than, as far as a machine's figures say.
#pragma once

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/operation.h"

namespace huddle::select {

// The longer of two: a line's way from the best placed rank to the one farthest from it, since
// somebody has to hear from everybody or to tell all; and reading the bytes that one rank has to
// take in at least, from the nearest peer.
double floor_ns(const Request& request, const node::RankLocality& locality,
                const machine::CostModel& model);

// What the memory of the busiest node takes for what its ranks hand in and want, all together, at
// the pace of the caches where those hold it. 0 where only pairs know how much that is.
double memory_ns(const Request& request, const node::RankLocality& locality,
                 const machine::CostModel& model);

}  // namespace huddle::select
