// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the network devices of this machine have sent so far, as the system counts it.
#pragma once

#include <map>
#include <string>

#include "common/system.h"

namespace huddle::ucx {

// Bytes by device: "lo", "mlx5_0".
using Traffic = std::map<std::string, double>;

Traffic sent_so_far(const System& system);
// What went out from one look to a later one.
Traffic between(const Traffic& before, const Traffic& after);
void add(const Traffic& some, Traffic& to);

}  // namespace huddle::ucx
