// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the attempts between two sibling processes mean for huddle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/finding.h"
#include "tools/doctor/sibling_probe.h"

namespace huddle::doctor {

struct SiblingFacts {
  SiblingResults plain = {};           // as any two processes
  SiblingResults allowing = {};        // after PR_SET_PTRACER
  std::optional<long long> yama = {};  // kernel.yama.ptrace_scope; nothing: no Yama in this kernel
  single_copy::PeerPaths paths = single_copy::peer_paths();  // that were tried
};

std::vector<Finding> judge_siblings(const SiblingFacts& facts);

// Where the probe could not be set up: which limit, by its errno value, has to be raised.
std::string setup_remedy(int error);

}  // namespace huddle::doctor
