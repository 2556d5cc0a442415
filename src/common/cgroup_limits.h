// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The limits of the control groups that this process is in, version 1 and 2 alike.
#pragma once

#include <optional>
#include <string>

#include "common/system.h"

namespace huddle {

// The tightest of each kind, from the process's own group up to the outermost that can be seen;
// nothing where there is no limit.
struct CgroupLimits {
  bool found = false;  // the process is in a group that can be read
  std::optional<double> memory_bytes;
  std::optional<double> processors;  // of time: 2.5 processors' worth
  std::optional<long long> tasks;
  std::string cpuset;  // "0-3"; empty: not given
};

CgroupLimits read_cgroup_limits(const System& system);

}  // namespace huddle
