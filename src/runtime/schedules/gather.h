// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Gather and scatter, and their v-forms where all ranks know all sizes.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> gather_knomial(const Call& call);
std::unique_ptr<Schedule> scatter_knomial(const Call& call);

}  // namespace huddle::net
