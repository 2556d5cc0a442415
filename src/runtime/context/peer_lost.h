// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A rank of the team is gone: whoever waits stops waiting.
#pragma once

#include "common/error.h"

namespace huddle::world {

class PeerLost : public FailureError {
 public:
  using FailureError::FailureError;
};

}  // namespace huddle::world
