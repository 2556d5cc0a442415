// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <span>

namespace huddle {

// The middle value, or the mean of the two middle ones. Requires: at least one value.
double median_of(std::span<const double> values);

}  // namespace huddle
