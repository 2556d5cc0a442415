// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Looks at everything that huddle needs, and says what it found.
#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"

namespace huddle::doctor {

struct Patient {
  std::string machine_file;  // what --machine or HUDDLE_MACHINE named; may be empty
  std::string search_path;   // PATH
};

// In the order in which people read it; findings of a group stand together.
std::vector<Finding> examine(const Patient& patient);

}  // namespace huddle::doctor
