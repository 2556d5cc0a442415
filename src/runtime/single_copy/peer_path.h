// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The paths into a peer's memory, by which a block is copied once: all that there is to know of one
// stands in its descriptor, and the descriptors in a table. What it costs is measured under its
// name (huddle calibrate), prices are made of that, ranks try it when they are to use it for the
// first time, and it is used where it works between all of them; nothing else names a path.
//
// What a peer has mapped (heap_memory.h) is none of them: whoever can load and store there needs
// nobody's help, and it costs what any copy of lines costs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

// In place of a pidfd, where the process is sure to be there: a child that nobody has waited for.
inline constexpr int unwatched = -1;

// Whose memory it is.
struct Owner {
  int rank = 0;
  pid_t process = 0;
  int watch = unwatched;  // a pidfd of it, which stays open as long as its memory is used
  bool is_this_process = false;
};

struct PeerPath {
  // Whether it works is found out by trying (reading_refusal and writing_refusal): what fails,
  // fails then. pre: it is another process's memory.
  using Open = std::function<std::unique_ptr<PeerMemory>(const Owner& owner)>;

  // All words outlive the descriptor.
  std::string_view name;   // in machine files
  std::string_view call;   // by which the system is asked to read: "process_vm_readv"
  std::string_view needs;  // for people: where that is allowed
  Open open;
};

// A path of a table. A number, so that a plan which holds it means the same in every process.
using PathNumber = std::uint8_t;
using PeerPaths = std::vector<PeerPath>;

// Those that huddle has: a new one is one line here. Of several that cost the same the first is
// taken.
PeerPaths peer_paths();

// By that path, or, where it is this process's own, as it is.
std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner);

}  // namespace huddle::single_copy
