// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the ranks of a communicator over several nodes get a team: those of each node make one by
// messages, and all agree that all have one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mpi/back_end/inter_node.h"
#include "mpi/back_end/node_context.h"
#include "mpi/options.h"
#include "runtime/internode/meeting.h"
#include "runtime/internode/node_bootstrap.h"
#include "runtime/internode/team.h"
#include "runtime/team/bootstrap.h"

namespace huddle::mpi {

class NodeJoining {
 public:
  // Keeps references. options: of equal digest on all ranks.
  NodeJoining(NodeContext& context, InterNode& inter_node, const Options& options)
      : context_(context), inter_node_(inter_node), options_(options) {}

  struct Known {
    std::uint64_t node = 0;    // equal on ranks of one node
    bool has_context = false;  // this rank
    int tag = 0;               // that no team of any of the ranks has
  };
  // in_job: the ranks in their world. All ranks throw the same FailureError, or none does.
  std::unique_ptr<internode::Team> make(internode::Meeting& meeting, const Known& known,
                                        std::span<const int> in_job);

 private:
  std::unique_ptr<team::Team> make_node_team(internode::NodeBootstrap& node_ranks,
                                             bool has_context);
  void share_mpi_times(internode::Meeting& meeting, internode::Team::Parts& parts, int speaker,
                       std::size_t points);
  void share_node_times(internode::Meeting& meeting, internode::Team::Parts& parts);
  void share_machine(internode::NodeBootstrap& node_ranks, const team::Bootstrap& here);

  NodeContext& context_;
  InterNode& inter_node_;
  const Options& options_;
};

}  // namespace huddle::mpi
