// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a process shares with the other processes of its teams: its own arena and, while
// a team needs them, the arenas and heaps of the peers, each mapped once.
#pragma once

#include <poll.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/memory/arena.h"
#include "runtime/single_copy/cma.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peer.h"
#include "runtime/team/process_identity.h"

namespace huddle::team {

// The location of a rank's heap, as published to its peers.
struct HeapAddress {
  std::uint64_t base = 0;  // in its owner's address space
  std::uint64_t cap_bytes = 0;
  std::int64_t descriptor = -1;  // in its owner's process; -1: there is no heap
  memory::ArenaId id;

  bool is_there() const { return descriptor >= 0; }
};

// Mappings of the heaps of other processes, each mapped once while a team needs it. A mapping
// covers the whole capacity of a heap, so the number of mappings does not grow with the number of
// buffers. Thread-safe.
class HeapViews {
 public:
  // Returns the mapping of a heap. Throws FailureError.
  // Requires: the owner's process id is valid in this pid namespace.
  std::shared_ptr<const memory::ArenaView> open(const ProcessIdentity& owner,
                                                const HeapAddress& address);

 private:
  std::mutex mutex_;  // guards known_
  std::map<memory::ArenaId, std::weak_ptr<const memory::ArenaView>> known_;
};

class Peers;

struct Member {
  std::shared_ptr<Peer> peer;
  memory::Piece piece;
  PresenceTable::Entry presence;

  // Returns whether the rank has not left the team. It may have died.
  bool is_present() const { return team::is_present(peer->base(), presence); }
  // Returns whether the rank has left the team or died. In both cases it no longer accesses the
  // team's memory.
  bool is_gone() const { return !is_present() || peer->is_dead(); }
};

// The ranks of one team as seen by one of them: the location of each rank's piece of shared memory,
// and whether its process is alive. Not thread-safe.
class Members {
 public:
  // Allocates all memory that this object needs, so that nothing can fail once the peers rely on
  // this rank.
  Members(Peers& peers, int rank, int ranks);
  // Leaves the team if all ranks have been added by admit().
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // Adds the next rank, in rank order. Never fails.
  void admit(Member member);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  bool is_gone(int rank) const { return member(rank).is_gone(); }
  bool is_present(int rank) const { return member(rank).is_present(); }
  // Returns a descriptor of the rank's process, or -1 for this process. Valid as long as this
  // object lives and the application does not close it.
  int process(int rank) const { return member(rank).peer->process(); }

  // Returns the address in this process of the piece that the rank contributed to the team.
  std::byte* piece(int rank) const { return member(rank).peer->base() + member(rank).piece.offset; }
  std::size_t piece_bytes(int rank) const { return member(rank).piece.bytes; }
  // Returns the address in this process of the rank's arena.
  std::byte* arena_base(int rank) const { return member(rank).peer->base(); }

  // Adds a piece of this rank's arena to the team. It is freed when all ranks have left.
  void keep(memory::Piece piece) { pieces_.push_back(piece); }
  // Returns the total size of this rank's pieces.
  std::size_t own_bytes() const;
  // Frees a piece that no rank uses. Does nothing if the piece is empty.
  void free(memory::Piece piece);

  // Throws context::PeerLost if a rank has died without leaving the team; the message names the
  // lowest such rank. Stores that the rank made before it died are then visible, so a rank that
  // waits for a flag must check the flag once more before it reports the failure. Takes one system
  // call plus one per rank, or two per rank if there are more ranks than RLIMIT_NOFILE allows.
  // Called a few times per second during long waits.
  void check();

 private:
  void renew_descriptors();
  const Member& member(int rank) const { return by_rank_[static_cast<std::size_t>(rank)]; }

  Peers& peers_;
  int rank_;
  int ranks_;
  std::vector<Member> by_rank_;
  std::vector<memory::Piece> pieces_;  // of this rank; freed after all ranks have left
  std::vector<pollfd> processes_;      // by rank
};

class TeamSetUp;

enum class DescriptorRoute {
  proc_first,  // opened through /proc; sent by their owners if that is refused
  sent,        // always sent by their owners; for tests
};

// The shared memory of this process and the peers that it has mapped. Must outlive its teams.
// Thread-safe if each thread uses its own team.
class Peers {
 public:
  explicit Peers(std::shared_ptr<memory::Arena> arena,
                 DescriptorRoute route = DescriptorRoute::proc_first);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Allocates and fills the piece of the arena that this rank contributes to a team. Peers access
  // the piece only after the function has returned. The function may throw.
  using AllocatePiece = std::function<memory::Piece(memory::Arena& arena)>;

  // Collective. Sets up a team. All ranks make the same number of allgathers even if one fails;
  // then all have a team, or all throw a FailureError that names the lowest rank that failed and
  // the reason. The piece is freed when all ranks have left the team.
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, const AllocatePiece& bring);
  // The same with a zeroed piece of `piece_bytes` bytes, which may differ between ranks.
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, std::size_t piece_bytes);

  memory::Arena& arena() { return *arena_; }
  const ProcessIdentity& identity() const { return me_; }
  single_copy::TracingPermits& tracing_permits() { return tracing_permits_; }
  HeapViews& heap_views() { return heap_views_; }
  // Returns the number of departed teams: this process has left them but some peers have not, so
  // that this process's pieces and the mappings of the peers' arenas are kept.
  std::size_t departed_teams() const;
  // Frees the memory of some departed teams that all peers have left by now. Also called whenever a
  // team is set up or left.
  void free_departed();

 private:
  friend class Members;
  friend class TeamSetUp;

  std::shared_ptr<Peer> find(const memory::ArenaId& id);
  std::shared_ptr<Peer> keep(const memory::ArenaId& id, std::shared_ptr<Peer> peer);
  void leave(int rank, std::vector<Member> by_rank, std::vector<memory::Piece> pieces);

  struct Departed {
    std::vector<memory::Piece> pieces;
    std::vector<Member> others;
  };

  std::shared_ptr<memory::Arena> arena_;
  DescriptorRoute route_;
  PresenceTable presence_;
  ProcessIdentity me_;
  mutable std::mutex mutex_;  // guards known_ and departed_
  std::map<memory::ArenaId, std::weak_ptr<Peer>> known_;
  std::list<Departed> departed_;
  single_copy::TracingPermits tracing_permits_;
  HeapViews heap_views_;
};

}  // namespace huddle::team
