// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Broadcasts: all blocks are in the root's output at first, and in everybody's at the end. Ranks
// are counted from the root on, round the circle, so that any rank can be it.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> bcast_knomial(const Call& call);
std::unique_ptr<Schedule> bcast_chain(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_ring(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_doubling(const Call& call);
std::unique_ptr<Schedule> bcast_circulant(const Call& call);

}  // namespace huddle::net
