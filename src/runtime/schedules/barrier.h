// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Barriers: messages without data.
#pragma once

#include <memory>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

std::unique_ptr<Schedule> barrier_dissemination(const Call& call);

}  // namespace huddle::net
