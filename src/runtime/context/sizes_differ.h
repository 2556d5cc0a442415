// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What came for a rank is larger or smaller than its caller says. Only that rank throws it, and has
// nothing of that block; all others have what they wanted. Every flag stands where it has to: the
// team can go on. No UsageError: those are thrown before anything has moved.
#pragma once

#include <string_view>

#include "common/error.h"

namespace huddle::world {

class SizesDiffer : public Error {
 public:
  explicit SizesDiffer(std::string_view message) noexcept : Error(ExitCode::usage, message) {}
};

}  // namespace huddle::world
