// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Determines through which paths (such as cross-memory attach) the ranks of a team can copy from
// and to each other's memory, and whether they can map each other's heaps. The ranks test this
// together when an algorithm first needs it. A path is used only if it works for all pairs of
// ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/memory/heap.h"
#include "runtime/single_copy/cma.h"
#include "runtime/single_copy/heap_memory.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/peers.h"
#include "runtime/team/team_memory.h"

namespace huddle::team {

// The reasons why a path or mapping does not work; empty if it works. Equal on all ranks.
struct Refusals {
  std::vector<RankError> copying;  // by path; covers reads and writes
  RankError mapping;
};

class PeerAccess {
 public:
  // Keeps references. `heap` is this rank's own, if it has one.
  PeerAccess(Peers& peers, const single_copy::PeerPaths& paths,
             const std::optional<memory::HeapFacts>& heap, const SelectionInputs& selection_inputs)
      : peers_(peers), paths_(paths), heap_(heap), selection_inputs_(selection_inputs) {}
  ~PeerAccess();
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

  // Returns which paths and mappings do not work. The first call is collective and tests them.
  // Throws PeerLost, or FailureError if memory is exhausted.
  // Requires: `team_memory` outlives this object.
  const Refusals& refusals(TeamMemory& team_memory);
  // Records that copying through that path has stopped working. All ranks call this.
  // Requires: refusals() was called.
  void refuse_copying(single_copy::PathNumber path, const RankError& why);

  // Returns the number of paths.
  std::size_t paths() const { return paths_.size(); }
  // Returns the peers' memories by rank; null before the first call of refusals().
  single_copy::PeerMemory* const* memories(single_copy::PathNumber path) const {
    return path < memories_.size() ? memories_[path].data() : nullptr;
  }
  // Returns this rank's heap if the peers map it; otherwise, and before refusals(), null.
  const memory::HeapFacts* heap() const { return maps_ ? &*heap_ : nullptr; }

 private:
  struct Showing;

  Showing showing(const std::byte* notes) const;
  void let_others_reach();
  void no_longer_let_them();
  RankError map_all(std::span<const Showing> showings);
  RankError try_all(single_copy::PathNumber path, std::span<const Showing> showings, int rank);
  void prove(single_copy::PathNumber path, int owner, const Showing& shown, int rank);
  void open_all(std::span<const Showing> showings, const TeamMemory& team_memory);
  std::unique_ptr<single_copy::PeerMemory> open_one(const single_copy::PeerPath& path, int other,
                                                    const Showing& shown,
                                                    const TeamMemory& team_memory) const;
  single_copy::Copying copying(int rank, int other) const;

  Peers& peers_;
  const single_copy::PeerPaths& paths_;
  const std::optional<memory::HeapFacts>& heap_;
  const SelectionInputs& selection_inputs_;
  bool is_known_ = false;
  bool maps_ = false;
  Refusals refusals_;
  std::uint64_t word_ = 0;  // read by peers to test their access
  bool has_permit_ = false;
  std::vector<std::shared_ptr<const memory::ArenaView>> views_;  // of heaps; by rank
  std::vector<std::unique_ptr<single_copy::PeerMemory>> opened_;
  std::vector<std::vector<single_copy::PeerMemory*>> memories_;  // by path, by rank
};

}  // namespace huddle::team
