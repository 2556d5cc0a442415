// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a rank waits for messages: as it does for its peers' flags.
#pragma once

#include <memory>

#include "net/execution.h"
#include "world/hardware/waiting.h"

namespace huddle::internode {

// Where that ends in the middle, messages may still come in: what they were to be received into is
// left to them.
inline void finish(std::unique_ptr<net::Execution> execution, world::hardware::Waiting& waiting) {
  try {
    if (execution->advance()) return;
    world::hardware::Wait wait(waiting);
    do {
      wait.spend();
    } while (!execution->advance());
  } catch (...) {
    static_cast<void>(execution.release());
    throw;
  }
}

}  // namespace huddle::internode
