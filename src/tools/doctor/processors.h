// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which processors there are and which of them this process may use, as the kernel lists them.
#pragma once

#include "common/system.h"
#include "model/machine/cpu_set.h"

namespace huddle::doctor {

machine::CpuSet online_processors(const System& system);
// By affinity mask and cpuset together: the kernel keeps the one inside the other.
machine::CpuSet allowed_processors(const System& system);

}  // namespace huddle::doctor
