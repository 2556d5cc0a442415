// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The members of one team as one of them sees them: where everybody's piece of shared memory is,
// and whether everybody is still alive.
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/team/business_card.h"
#include "runtime/team/peer.h"
#include "runtime/team/presence_table.h"

namespace huddle::team {

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

  // Throws world::PeerLost with the lowest rank that has died without leaving the team. What it did
  // before it died can be seen after this, so a rank that waits for a flag looks at it once more
  // before it gives up. Costs one system call, and one per member, unless the limit of descriptors
  // is very low: then it is two per member. Collectives call it only while they wait for long, and
  // then a few times per second.
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

}  // namespace huddle::team
