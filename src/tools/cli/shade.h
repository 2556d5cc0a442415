// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A cell of a matrix of who talks to whom, two columns wide.
#pragma once

#include <string_view>

namespace huddle::cli {

// Darker by factors, not by differences, from `least` to `most`; 0 stays apart.
std::string_view shade(double amount, double least, double most, bool unicode);

}  // namespace huddle::cli
