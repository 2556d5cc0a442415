// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The team context of this process, and where its machine comes from: one process looks at the
// machine, which takes long where it has many processors, and tells the others of its node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "mpi/back_end/inter_node.h"
#include "mpi/machine_discovery.h"
#include "mpi/options.h"
#include "runtime/internode/internode_team.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/memory/heap.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team_context.h"

namespace huddle::mpi {

// For several threads.
class NodeContext {
 public:
  // progress: keeps the MPI moving while a rank waits.
  // ranks_here: of the job, on this node; 0: unknown.
  // warn: is passed a sentence if the machine file is broken.
  NodeContext(const Options& options, std::function<void()> progress, int ranks_here,
              Complain warn);

  bool is_there() const;
  // pre: it is there.
  team::Context& get() const;

  // Starts the heap of this process, where it is wanted and to be had; `complain` is told why it is
  // not to be had.
  void start_heap(const Complain& complain);
  // Nothing where it was not started.
  std::optional<memory::HeapFacts> heap() const;

  // Begins to look at this machine, where nobody has: the text will be wanted soon. What goes wrong
  // is said by machine_text().
  void begin_to_look() noexcept;
  // Returns the machine of the context or, if there is none yet, this machine: as text. Throws
  // FailureError, and warns of it: without a machine every collective goes to the MPI.
  std::string machine_text();
  // From such a text. Nothing where the context is there already.
  void make(const std::string& machine_text);

 private:
  const Options& options_;
  std::function<void()> progress_;
  int ranks_here_;
  Complain warn_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<memory::HeapFacts> heap_;
  std::unique_ptr<MachineDiscovery> look_;  // while it runs
  std::unique_ptr<team::Context> context_;
};

// How the ranks of a communicator over several nodes get a team: those of each node make one by
// messages, and all agree that all have one.
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
