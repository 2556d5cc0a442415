// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a process shares with the other processes of its teams: its own arena and, for as long as a
// team needs them, the arenas of the others, each mapped once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/memory/arena.h"
#include "runtime/single_copy/tracing.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/business_card.h"
#include "runtime/team/heap_views.h"
#include "runtime/team/members.h"
#include "runtime/team/peer.h"
#include "runtime/team/presence_table.h"

namespace huddle::team {

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
