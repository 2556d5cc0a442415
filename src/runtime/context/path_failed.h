// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A path into a peer's memory stopped working in the middle of a call. All ranks of the call throw
// it, so none has a result that could be wrong, though what it would have replaced may be gone.
// Every flag stands where it has to: the team can go on without that path.
#pragma once

#include <string_view>

#include "common/error.h"

namespace huddle::world {

// No FailureError: those are thrown before anything has moved.
class PathFailed : public Error {
 public:
  explicit PathFailed(std::string_view message) noexcept : Error(ExitCode::failure, message) {}
};

}  // namespace huddle::world
