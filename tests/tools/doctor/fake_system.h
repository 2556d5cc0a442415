// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks are shown machines that consist of files; one finding of many is looked at by its name.
#pragma once

#include <string_view>
#include <vector>

#include "../../common/fake_system.h"
#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// The finding of that name; one that says so when there is none.
inline Finding named(const std::vector<Finding>& findings, std::string_view id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return finding;
  }
  return {.id = "no such finding", .group = "", .what = "", .state = State::fails};
}

}  // namespace huddle::doctor
