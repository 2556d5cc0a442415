// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Activates huddle on communicators: decides when a communicator gets a team, and makes its ranks
// agree, so that all have one or none has. They agree through collectives of the MPI, which all
// ranks must call, so each rank first determines whether all of them run huddle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "mpi/activation_cost.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/inter_node.h"
#include "mpi/back_end/node_context.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/options.h"
#include "mpi/placement_warning.h"
#include "mpi/presence.h"
#include "runtime/team/team_pool.h"

namespace huddle::mpi {

class Activation {
 public:
  // Keeps references to its arguments.
  Activation(const UnderlyingMpi& real, const Types& types, const Options& options,
             WorldRanks& world_ranks, Presence& presence, NodeContext& context,
             InterNode& inter_node, MpiProgress& mpi_progress, Warn warn);

  // Counts a call, and creates the team once the expected savings exceed its cost.
  // Requires: the communicator has no team and its fallback reason is not_activated.
  void count(Communicator& communicator);
  // Keeps the team of a freed communicator for the next communicator of the same ranks.
  void leave(Communicator& communicator) noexcept;

 private:
  using Entry = team::TeamPool::Entry;
  // The pooled team and group configuration for the communicator's members: before the agreement,
  // what this rank has; afterwards, what all ranks have in common, if anything.
  struct PooledTeam {
    Entry entry;
    team::TeamPool::Known known;
  };
  // The data that a rank contributes to the agreement. combine() yields the facts about all ranks.
  struct Facts;

  void activate(Communicator& communicator);
  FallbackReason resolve_members(Communicator& communicator);
  bool is_job_here();
  FallbackReason reason_for_missing(int rank, int own);
  FallbackReason agree(Communicator& communicator, PooledTeam& pooled);
  FallbackReason check_facts(const Facts& all) const;
  // Uses a team that all ranks have in their pools, or prepares a new one if its cost is justified.
  FallbackReason obtain_team(Communicator& communicator, PooledTeam& pooled, const Facts& all);
  Facts facts_of(const Communicator& communicator, const PooledTeam& pooled);
  ActivationDecision decide(const Communicator& communicator, const Facts& all) const;
  bool is_first_here(const Communicator& communicator);
  std::uint64_t cost_of_context_ns(const Communicator& communicator);
  bool keep_common(Entry& entry, const Facts& all);
  bool agree_on_facts(Facts& facts, Communicator& communicator);
  template <class Words>
  bool tell(std::span<Words> all, const Words& mine, const Communicator& communicator);
  bool all_agree(bool mine, const Communicator& communicator);
  bool gather(std::span<const std::byte> mine, std::span<std::byte> all,
              const Communicator& communicator);
  bool share_machine(Communicator& communicator);
  bool share_text(std::string& text, Communicator& communicator);
  void make_team(Communicator& communicator, PooledTeam& pooled);
  FallbackReason activate_over_nodes(Communicator& communicator, const Facts& all);

  const UnderlyingMpi& real_;
  const Types& types_;
  const Options& options_;
  WorldRanks& world_ranks_;
  Presence& presence_;
  NodeContext& context_;
  InterNode& inter_node_;
  PlacementCheck placement_check_;
  NodeActivation nodes_;
  MpiProgress& mpi_progress_;
  Warn warn_;
  std::size_t first_vote_;
  std::uint64_t settings_;  // hash of the options
  bool is_fault_tolerant_;
  std::atomic<std::uint64_t> node_{0};  // 0: not determined yet
  team::TeamPool pool_;
  PastCalls past_calls_;
  std::atomic<std::uint64_t> numbers_{0};        // the last number given to a new team by this rank
  std::atomic<std::uint64_t> team_ns_;           // shortest time to create a team
  std::atomic<std::uint64_t> nodes_team_ns_{0};  // on several nodes; 0: unknown
};

}  // namespace huddle::mpi
