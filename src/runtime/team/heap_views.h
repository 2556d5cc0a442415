// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The heaps of other processes as this one has mapped them: each once, for as long as a team needs
// it. One mapping covers all that a heap will ever hold, so that their number never grows with the
// buffers that a program uses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/memory/arena_view.h"
#include "runtime/team/process_identity.h"

namespace huddle::team {

// What a rank tells of its heap.
struct HeapCard {
  std::uint64_t base = 0;  // in its owner
  std::uint64_t cap_bytes = 0;
  std::int64_t descriptor = -1;  // in its owner's process; -1: there is no heap
  memory::ArenaId id;

  bool is_there() const { return descriptor >= 0; }
};

// May be used by several threads at once.
class HeapViews {
 public:
  // pre: the owner's process id means the same here. Throws FailureError.
  std::shared_ptr<const memory::ArenaView> open(const ProcessIdentity& owner, const HeapCard& card);

 private:
  std::mutex mutex_;  // guards what follows
  std::map<memory::ArenaId, std::weak_ptr<const memory::ArenaView>> known_;
};

}  // namespace huddle::team
