// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Another member's arena, mapped, and a hold on its process that tells when it dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "common/file.h"
#include "runtime/memory/arena.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/process_identity.h"

namespace huddle::team {

// How others see, by looking only, whether a rank is still a member of a team: a word of its arena
// holds a ticket that no other team ever gets. The words lie in pages that are never freed while
// the arena lives, so that whoever looks too late sees another number, and never somebody's data.
class PresenceTable {
 public:
  struct Entry {
    std::size_t offset = 0;  // of the word, in the arena
    std::uint64_t ticket = 0;
  };

  explicit PresenceTable(std::shared_ptr<memory::Arena> arena);
  // Throws FailureError where the arena has no memory left.
  Entry enter();
  void leave(Entry entry);

 private:
  void add_page();

  std::shared_ptr<memory::Arena> arena_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::size_t> free_words_;
  std::size_t words_ = 0;  // free or not
  std::uint64_t last_ticket_ = 0;
};

// Reads the word of a member, who may be leaving at this moment.
bool is_present(std::byte* arena_base, PresenceTable::Entry entry);

// What a rank tells the others when a team is made: who it is and where its memory is to be found.
struct BusinessCard {
  Trouble trouble;  // if there is any, nothing of the rest holds
  ProcessIdentity process;
  memory::ArenaId arena;
  std::uint64_t cap_bytes = 0;
  std::int64_t descriptor = -1;  // of the arena, in its owner's process
  // For threads of the owner's process: its hold on the arena, there until the team is made or has
  // failed.
  const std::shared_ptr<memory::Arena>* owner = nullptr;
  memory::Piece piece;
  PresenceTable::Entry presence;
};
static_assert(std::is_trivially_copyable_v<BusinessCard>);

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
