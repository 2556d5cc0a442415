// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions to one rank, and to each its block.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> reduce_binomial(const Call& call);

std::unique_ptr<Schedule> reduce_scatter_halving(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_slices(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_ring(const Call& call);

}  // namespace huddle::net
