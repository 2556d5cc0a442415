// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Looks at everything that huddle needs, and says what it found.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/finding.h"
#include "tools/doctor/machine_file.h"

namespace huddle::doctor {

struct Patient {
  NamedFile machine_file;
  std::string search_path;  // PATH
};

// In the order in which people read it; findings of a group stand together.
std::vector<Finding> examine(const Patient& patient);

}  // namespace huddle::doctor
