// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/peer_path.h"

#include "runtime/single_copy/cma.h"
#include "runtime/single_copy/own_memory.h"

namespace huddle::single_copy {

PeerPaths peer_paths() { return {cma()}; }

std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner) {
  if (owner.is_this_process) return std::make_unique<OwnMemory>();
  return path.open(owner);
}

}  // namespace huddle::single_copy
