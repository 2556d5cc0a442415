// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// "3=12": element 3 on processor 12; "3=1:12": on processor 12 of node 1. How people say where
// somebody sits or has to sit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/slots.h"

namespace huddle::place {

struct Assignment {
  int element = 0;
  Slot slot;

  bool operator==(const Assignment&) const = default;
};

// Separated by commas. Throws UsageError that quotes what it could not read.
std::vector<Assignment> parse_assignments(std::string_view text);

// One or several a line, # comments. Throws InputError "FILE:LINE: what is wrong".
std::vector<Assignment> read_assignments(const std::string& path);
std::vector<Assignment> parse_assignment_lines(std::string_view text, const std::string& name);

}  // namespace huddle::place
