// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Allgather and allgatherv: block r comes from rank r, and everybody gets all. Blocks are received
// where they stay, so that nothing is turned round at the end and no algorithm needs scratch.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> allgather_ring(const Call& call);
std::unique_ptr<Schedule> allgather_neighbor(const Call& call);
std::unique_ptr<Schedule> allgather_doubling(const Call& call);
std::unique_ptr<Schedule> allgather_bruck(const Call& call);
std::unique_ptr<Schedule> allgather_sparbit(const Call& call);
std::unique_ptr<Schedule> allgather_far_first(const Call& call);

}  // namespace huddle::net
