// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One of several flags that a rank waits for at once, and what it wants of it.
#pragma once

#include "runtime/context/address.h"
#include "runtime/context/sequence.h"

namespace huddle::world {

struct AwaitedFlag {
  Address flag;
  Until until;
};

}  // namespace huddle::world
