// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for tests of checks, which examine fake systems that consist of files.
#pragma once

#include <string_view>
#include <vector>

#include "../../common/fake_system.h"
#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// Returns the finding with this id, or a failure if there is none.
inline Finding named(const std::vector<Finding>& findings, std::string_view id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return finding;
  }
  return {.id = "no such finding", .group = "", .what = "", .state = State::fails};
}

}  // namespace huddle::doctor
