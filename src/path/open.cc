// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "path/open.h"

#include "path/cma.h"
#include "path/own_memory.h"

namespace huddle::path {

std::unique_ptr<PeerMemory> open(const Owner& owner) {
  if (owner.is_this_process) return std::make_unique<OwnMemory>();
  return std::make_unique<CmaMemory>(owner.process, owner.watch);
}

}  // namespace huddle::path
