// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Scans: rank r gets the join of the contributions of ranks 0 to r, or to r - 1.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> scan_doubling(const Call& call);
std::unique_ptr<Schedule> exscan_doubling(const Call& call);

}  // namespace huddle::net
