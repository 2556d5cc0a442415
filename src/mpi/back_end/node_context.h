// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The team context of this process, with the description of its machine. One process per node
// discovers the machine, which takes long on nodes with many cores, and sends the description to
// the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "common/system.h"
#include "model/machine/machine.h"
#include "model/machine/stored_machine.h"
#include "mpi/back_end/inter_node.h"
#include "mpi/machine_discovery.h"
#include "mpi/options.h"
#include "mpi/placement_warning.h"
#include "mpi/tuning_file.h"
#include "runtime/internode/internode_team.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/memory/heap.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team_context.h"

namespace huddle::mpi {

// Thread-safe.
class NodeContext {
 public:
  // `progress` keeps the MPI progressing while a rank waits. `ranks_here` is the number of the
  // job's ranks on this node, 0 if unknown. `warn` reports an invalid machine file.
  // `mpi` returns the MPI's name and version.
  NodeContext(const Options& options, std::function<std::string()> mpi,
              std::function<void()> progress, int ranks_here, Warn warn);

  bool is_there() const;
  // Requires: is_there().
  team::Context& get() const;

  // Starts a thread that finds and parses the machine text that an earlier job has stored, and
  // reads the limits of the cgroup, so that machine_text() and make() take less time. Meant for
  // MPI_Init, in which a rank mostly waits: the thread has the lowest priority, and no call waits
  // for it. Does nothing if it fails.
  void start_preparation() noexcept;
  // Returns whether a finished preparation is ready for make().
  bool is_prepared();

  // Starts the heap of this process if requested. Calls `warn` if the heap is not available.
  void start_heap(const Warn& warn);
  // Returns nullopt if the heap was not started.
  std::optional<memory::HeapFacts> heap() const;

  // Returns whether machine_text() takes little time, because an earlier job has stored the text.
  bool knows_machine() noexcept;
  // Starts discovering this machine in advance, if necessary. machine_text() reports errors.
  void start_discovery() noexcept;
  // Returns the text of the context's machine or, if there is no context yet, of this machine.
  // Throws FailureError after a warning: without a machine all collectives fall back to the MPI.
  std::string machine_text();
  // Returns the machine that machine_text() describes. Throws as it does.
  machine::Machine read_machine();
  // Creates the context from such a text. Does nothing if there is a context.
  void make(const std::string& machine_text);
  // Stores the results of trials if the settings contain a file for them and there is a context.
  // Throws InputError and FailureError.
  void save_tuning() const;

 private:
  struct Prepared {
    std::string machine_text;
    machine::Machine machine;
    CgroupLimits limits;
  };
  static std::optional<Prepared> prepare(
      const std::string& machine_file,
      const machine::StoredMachine::Environment& environment) noexcept;
  // Takes the result of the preparation, if it has ended. Requires: the mutex is held.
  void take_prepared();

  const Options& options_;
  std::function<std::string()> mpi_;
  std::function<void()> progress_;
  int ranks_here_;
  Warn warn_;
  // Looks for the text of an earlier job, once.
  // Requires: the mutex is held.
  const std::string& stored();

  mutable std::mutex mutex_;  // guards the members below
  std::optional<memory::HeapFacts> heap_;
  std::future<std::optional<Prepared>> preparation_;  // in progress
  std::optional<Prepared> prepared_;
  std::optional<std::string> stored_;       // the text that an earlier job has stored, or empty
  std::unique_ptr<MachineDiscovery> look_;  // while huddle-look runs
  std::unique_ptr<team::Context> context_;
  std::optional<TuningConditions> tuning_conditions_;  // of the context
};

// Creates the team of a communicator over several nodes: the ranks of each node create a team by
// messages, and all ranks agree that all have one.
class NodeActivation {
 public:
  // Keeps references to its arguments. The options' digests must be equal on all ranks.
  NodeActivation(NodeContext& context, InterNode& inter_node, const Options& options,
                 PlacementCheck& placement_check)
      : context_(context),
        inter_node_(inter_node),
        options_(options),
        placement_check_(placement_check) {}

  struct Known {
    std::uint64_t node = 0;    // equal on the ranks of a node
    bool has_context = false;  // whether this rank has a context
    int tag = 0;               // not in use on any of these ranks; 0: none is left
  };
  // `in_job` contains the members' ranks in MPI_COMM_WORLD, `data` a buffer of this rank. If a rank
  // fails, throws the same FailureError on all ranks.
  std::unique_ptr<internode::Team> make(internode::SetUpExchange& exchange, const Known& known,
                                        std::span<const int> in_job,
                                        std::span<const std::byte> data);

 private:
  std::unique_ptr<team::Team> make_node_team(internode::NodeBootstrap& node_ranks, bool has_context,
                                             std::span<const std::byte> data);
  void check_placement(const team::Team& node, std::span<const int> here,
                       std::span<const int> in_job) noexcept;
  void share_mpi_times(internode::SetUpExchange& exchange, internode::Team::Parts& parts,
                       int speaker, std::size_t points);
  void share_node_times(internode::SetUpExchange& exchange, internode::Team::Parts& parts);
  void share_machine(internode::NodeBootstrap& node_ranks, const team::Bootstrap& here);

  NodeContext& context_;
  InterNode& inter_node_;
  const Options& options_;
  PlacementCheck& placement_check_;
};

}  // namespace huddle::mpi
