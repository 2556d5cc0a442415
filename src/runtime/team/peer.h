// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A peer: the mapped arena of another rank, and a descriptor that detects the death of its process.
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

// Shows the peers of a rank whether it is still in a team. Its arena has one word per team, which
// contains a ticket that is unique to the team. Peers check the word with a single load. The words
// are in pages that are not freed while the arena exists, so that a late check reads a different
// ticket and never other data.
class PresenceTable {
 public:
  struct Entry {
    std::size_t offset = 0;  // of the word in the arena
    std::uint64_t ticket = 0;
  };

  explicit PresenceTable(std::shared_ptr<memory::Arena> arena);
  // Throws FailureError if the arena is full.
  Entry enter();
  void leave(Entry entry);

 private:
  void add_page();

  std::shared_ptr<memory::Arena> arena_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::size_t> free_words_;
  std::size_t words_ = 0;  // free and used
  std::uint64_t last_ticket_ = 0;
};

// Returns whether the rank of this entry is still in the team. The rank may leave concurrently.
bool is_present(std::byte* arena_base, PresenceTable::Entry entry);

// The address that each rank publishes at team set-up: its process and how to open its memory.
struct PeerAddress {
  RankError rank_error;  // if set, no other field is valid
  ProcessIdentity process;
  memory::ArenaId arena;
  std::uint64_t cap_bytes = 0;
  std::int64_t descriptor = -1;  // of the arena, in its owner's process
  // For threads of the owner's process: its reference to the arena. Valid during team set-up.
  const std::shared_ptr<memory::Arena>* owner = nullptr;
  memory::Piece piece;
  PresenceTable::Entry presence;
};
static_assert(std::is_trivially_copyable_v<PeerAddress>);

class Peer {
 public:
  // A rank of this process. Uses the arena at its owner's address.
  explicit Peer(std::shared_ptr<memory::Arena> arena);
  // A rank of another process, with descriptors that it sent or that this process opened. Throws
  // FailureError.
  Peer(const FileDescriptor& arena, FileDescriptor process, const PeerAddress& address);

  std::byte* base() const { return arena_ ? arena_->base() : view_.base(); }
  // Returns ProcessWatch::descriptor(): -1 for this process, or if the application has closed the
  // descriptor and the process cannot be opened again.
  int process() const { return process_.descriptor(); }
  bool is_dead() const { return process_.is_dead(); }

 private:
  std::shared_ptr<memory::Arena> arena_;
  memory::ArenaView view_;
  ProcessWatch process_;
};

// Opens the arena of another process through /proc. Returns null if that is not possible; the owner
// must then send the descriptor. Throws FailureError if that would fail as well.
std::shared_ptr<Peer> open_peer(const ProcessIdentity& me, const PeerAddress& address);

// Returns a descriptor of the calling process, as open_process() does. Throws FailureError if it
// cannot be opened.
FileDescriptor own_process();

// Returns whether the process has died.
// Requires: its process id is valid in this pid namespace (see share_process_ids()).
bool has_died(const ProcessIdentity& process);

}  // namespace huddle::team
