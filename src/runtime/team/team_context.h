// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The state that all teams of a process share: the machine model, the arena and the peers.
#pragma once

#include <sched.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/system.h"
#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/context/waiting.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/heap.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/team/peers.h"
#include "runtime/team/tuning_history.h"

namespace huddle::team {

// Default size of the arena: enough for sixteen large teams, and small compared with the memory of
// a node. Unused pages occupy only address space.
inline constexpr std::size_t default_cap_bytes = std::size_t{1} << 30;

struct ContextOptions {
  machine::Machine machine;
  // The text that `machine` was parsed from; if empty, the context formats `machine` instead.
  std::string machine_text = {};
  memory::ArenaOptions arena;
  // Size of the queue that each rank of a team allocates per large-message algorithm.
  std::size_t queue_bytes = select::usual_queue_bytes;
  context::ProgressCallback progress;
  // This process's shared heap for large blocks; empty if it has none that peers may map.
  std::optional<memory::HeapFacts> heap;
  std::optional<CgroupLimits> limits;  // of this process; read if they are unknown
  // Number of processes of the job on this machine, including this one; 0 if unknown.
  int processes_here = 0;
  // Paths by which ranks access each other's memory: at least one, and the same on all ranks.
  single_copy::PeerPaths paths = single_copy::peer_paths();
  select::Forcing forcing;  // if the ranks of a team differ, rank 0's is used
  // Results of trials in earlier runs.
  TuningHistory::Records tuning_records;
  // See Tuner::begin_trials_after(). The same on all ranks.
  std::optional<std::uint32_t> trials_after;
};

// Must outlive its teams. Thread-safe.
class Context {
 public:
  // Throws FailureError if the shared memory cannot be created.
  explicit Context(ContextOptions options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const machine::Machine& machine() const { return options_.machine; }
  // Returns the machine file's text. Ranks of a team compare it and use rank 0's if it differs.
  const std::string& machine_text() const { return options_.machine_text; }
  std::size_t queue_bytes() const { return options_.queue_bytes; }
  const select::Forcing& forcing() const { return options_.forcing; }
  const std::string& forcing_text() const { return forcing_text_; }
  const context::ProgressCallback& progress() const { return options_.progress; }
  const std::optional<memory::HeapFacts>& heap() const { return options_.heap; }
  const single_copy::PeerPaths& paths() const { return options_.paths; }
  // Returns the CPU quota of the cgroup, in CPUs, when the limits were read; 0 if unlimited.
  double processors() const { return processors_; }
  // Returns the hardware threads that this process could use at its start; see cpu_binding.h.
  const cpu_set_t& cpus_at_start() const { return cpus_at_start_; }
  int processes_here() const { return options_.processes_here; }
  const std::optional<std::uint32_t>& trials_after() const { return options_.trials_after; }
  Peers& peers() { return peers_; }
  TuningHistory& tuning_history() { return tuning_history_; }

 private:
  ContextOptions options_;
  std::string forcing_text_;
  double processors_;
  cpu_set_t cpus_at_start_;
  Peers peers_;
  TuningHistory tuning_history_;
};

}  // namespace huddle::team
