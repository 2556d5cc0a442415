// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Allreduce: everybody gets the join of all contributions.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> allreduce_doubling(const Call& call);
std::unique_ptr<Schedule> allreduce_halving(const Call& call);
std::unique_ptr<Schedule> allreduce_slices(const Call& call);
std::unique_ptr<Schedule> allreduce_ring(const Call& call);

}  // namespace huddle::net
