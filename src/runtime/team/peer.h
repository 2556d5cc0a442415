// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Another member's arena, mapped, and a hold on its process that tells when it dies.
#pragma once

#include <memory>

#include "common/file_descriptor.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/arena_view.h"
#include "runtime/team/business_card.h"
#include "runtime/team/process_watch.h"

namespace huddle::team {

class Peer {
 public:
  // A rank of this very process: its arena at the owner's own address. It cannot die alone.
  explicit Peer(std::shared_ptr<memory::Arena> arena);
  // A rank of another process: what it sent, or what was opened. Throws FailureError.
  Peer(const FileDescriptor& arena, FileDescriptor process, const BusinessCard& card);

  std::byte* base() const { return arena_ ? arena_->base() : view_.base(); }
  // A pidfd, readable once the process is dead; -1 for this very process, and if the program has
  // closed it and it cannot be opened again.
  int process() const { return process_.pidfd(); }
  bool is_dead() const { return process_.is_dead(); }

 private:
  std::shared_ptr<memory::Arena> arena_;
  memory::ArenaView view_;
  ProcessWatch process_;
};

// Opens the arena of another process by /proc. Nothing where the system does not let us, so that
// its owner has to send it. Throws FailureError where it would fail for a sent one, too.
std::shared_ptr<Peer> open_peer(const ProcessIdentity& me, const BusinessCard& card);

// A pidfd of the calling process. Throws FailureError.
FileDescriptor own_process();

// Whether that process, whose id means the same to us, is dead: a look, nothing is held.
bool has_died(const ProcessIdentity& process);

}  // namespace huddle::team
