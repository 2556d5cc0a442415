// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a process shares with the other processes of its teams: its own arena and, for as long as a
// team needs them, the arenas of the others, each mapped once.
#pragma once

#include <poll.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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

// The heaps of other processes as this one has mapped them: each once, for as long as a team needs
// it. One mapping covers all that a heap will ever hold, so that their number never grows with the
// buffers that a program uses.

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

// The members of one team as one of them sees them: where everybody's piece of shared memory is,
// and whether everybody is still alive.
class Peers;

struct Member {
  std::shared_ptr<Peer> peer;
  memory::Piece piece;
  PresenceTable::Entry presence;

  // Left in good order, or dead: it will never touch the team's memory again.
  bool is_gone() const;
};

// For one thread at a time. Its own rank leaves the team when this goes.
class Members {
 public:
  // Takes all memory that it will need, so that nothing can fail once the others count on it.
  Members(Peers& peers, int rank, int ranks);
  // Nothing is left, and the others are told nothing, unless all members have been admitted.
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // One after the other, in rank order. Never fails.
  void admit(Member member);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  bool is_gone(int rank) const { return member(rank).is_gone(); }
  // A pidfd of the rank's process, as long as this lives and the program does not close it; -1 for
  // this very process.
  int process(int rank) const { return member(rank).peer->process(); }

  // The piece that the rank brought to the team, where this process sees it.
  std::byte* piece(int rank) const { return member(rank).peer->base() + member(rank).piece.offset; }
  std::size_t piece_bytes(int rank) const { return member(rank).piece.bytes; }
  // Where this process sees the rank's arena.
  std::byte* arena_base(int rank) const { return member(rank).peer->base(); }

  // One more piece of this rank's arena that belongs to the team: it is freed when all have left,
  // like the first.
  void keep(memory::Piece piece) { pieces_.push_back(piece); }
  // Of this rank's pieces.
  std::size_t own_bytes() const;
  // One that nobody uses after all; nothing where it has no bytes.
  void give_back(memory::Piece piece);

  // Throws context::PeerLost with the lowest rank that has died without leaving the team. What it
  // did before it died can be seen after this, so a rank that waits for a flag looks at it once
  // more before it gives up. Costs one system call, and one per member, unless the limit of
  // descriptors is very low: then it is two per member. Collectives call it only while they wait
  // for long, and then a few times per second.
  void check();

 private:
  void renew_descriptors();
  const Member& member(int rank) const { return by_rank_[static_cast<std::size_t>(rank)]; }

  Peers& peers_;
  int rank_;
  int ranks_;
  std::vector<Member> by_rank_;
  std::vector<memory::Piece> pieces_;  // of this rank, that the team keeps
  std::vector<pollfd> processes_;      // by rank
};

class Joining;

enum class DescriptorRoute {
  proc_first,  // opened through /proc; sent where that is refused
  sent,        // always sent by their owners: for tests
};

// Outlives its teams. May be used by several threads at once, each for another team.
class Peers {
 public:
  explicit Peers(std::shared_ptr<memory::Arena> arena,
                 DescriptorRoute route = DescriptorRoute::proc_first);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // What a rank brings to a team: a piece of its arena, allocated and filled. The others see it as
  // it was when this returned, before they can write to it. May throw.
  using Bring = std::function<memory::Piece(memory::Arena& arena)>;

  // Makes a team. All ranks do the same number of allgathers, whatever fails on one of them, and
  // then all have a team, or all throw FailureError with the lowest rank that failed and its
  // reason. The piece is freed when all have left the team.
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, const Bring& bring);
  // The same with a piece of so many bytes, zeroed; each rank may choose its own number.
  std::unique_ptr<Members> join(const Bootstrap& bootstrap, std::size_t piece_bytes);

  memory::Arena& arena() { return *arena_; }
  const ProcessIdentity& identity() const { return me_; }
  single_copy::TracingPermits& tracing_permits() { return tracing_permits_; }
  HeapViews& heap_views() { return heap_views_; }
  // Teams that this process has left while others are still in them, so that their pieces and the
  // arenas of the others are kept.
  std::size_t departed_teams() const;
  // Lets go of some that the others have left by now. Every join and every leaving does it, too.
  void free_departed();

 private:
  friend class Members;
  friend class Joining;

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
  mutable std::mutex mutex_;  // guards what follows
  std::map<memory::ArenaId, std::weak_ptr<Peer>> known_;
  std::deque<Departed> departed_;
  single_copy::TracingPermits tracing_permits_;
  HeapViews heap_views_;
};

}  // namespace huddle::team
