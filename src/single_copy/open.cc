// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "single_copy/open.h"

#include "single_copy/cma.h"
#include "single_copy/own_memory.h"

namespace huddle::single_copy {

std::unique_ptr<PeerMemory> open(const Owner& owner) {
  if (owner.is_this_process) return std::make_unique<OwnMemory>();
  return std::make_unique<CmaMemory>(owner.process, owner.watch);
}

}  // namespace huddle::single_copy
