// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All-to-all: of a rank's input block d is for rank d, and of its output block s comes from rank s.
// Where each goes straight from one to the other it serves the v-forms, too, of whose sizes only
// these two know; through others (Bruck) only blocks of one size can go.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> alltoall_spread(const Call& call);
std::unique_ptr<Schedule> alltoall_pairwise(const Call& call);
std::unique_ptr<Schedule> alltoall_bruck(const Call& call);

}  // namespace huddle::net
