// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The path to a rank's memory: which one there is follows from where the rank lives.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "single_copy/cma.h"
#include "single_copy/peer_memory.h"

namespace huddle::single_copy {

struct Owner {
  int rank = 0;
  pid_t process = 0;
  int watch = unwatched;  // a pidfd of it, which stays open as long as its memory is used
  bool is_this_process = false;
};

// Never fails: whether it works is found out by reading. A test puts its own in place.
using Open = std::function<std::unique_ptr<PeerMemory>(const Owner& owner)>;
std::unique_ptr<PeerMemory> open(const Owner& owner);

}  // namespace huddle::single_copy
