// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the teams of a process have in common: the machine model, the arena, the peers.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/context/waiting.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/heap.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/team/peers.h"

namespace huddle::team {

// More than sixteen large teams take, and small beside a node's memory; address space until used.
inline constexpr std::size_t default_cap_bytes = std::size_t{1} << 30;

struct ContextOptions {
  machine::Machine machine;
  // The text that it was read from; empty: there is none.
  std::string machine_text = {};
  memory::ArenaOptions arena;
  // What a rank of a team gives to each of the algorithms that move much.
  std::size_t queue_bytes = select::usual_queue_bytes;
  context::ProgressCallback progress;
  // Where this process keeps large blocks, if it lets its peers map them.
  std::optional<memory::HeapFacts> heap;
  // So many processes of the same job run on this machine, this one included; 0: unknown.
  int processes_here = 0;
  // By which ranks reach each other's memory; at least one, and the same ones on all ranks.
  single_copy::PeerPaths paths = single_copy::peer_paths();
  select::Forcing forcing;  // where a team's ranks differ, the lowest one's counts
};

// Outlives its teams. May be used by several threads at once.
class Context {
 public:
  // Throws FailureError where there is no memory to share.
  explicit Context(ContextOptions options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const machine::Machine& machine() const { return options_.machine; }
  // The machine as text: equal texts, equal decisions.
  const std::string& machine_text() const { return options_.machine_text; }
  std::size_t queue_bytes() const { return options_.queue_bytes; }
  const select::Forcing& forcing() const { return options_.forcing; }
  // The same as text.
  const std::string& forcing_text() const { return forcing_text_; }
  const context::ProgressCallback& progress() const { return options_.progress; }
  const std::optional<memory::HeapFacts>& heap() const { return options_.heap; }
  const single_copy::PeerPaths& paths() const { return options_.paths; }
  // Of time, that the control group of this process had when the context was made; 0: no limit.
  double processors() const { return processors_; }
  int processes_here() const { return options_.processes_here; }
  Peers& peers() { return peers_; }

 private:
  ContextOptions options_;
  std::string forcing_text_;
  double processors_;
  Peers peers_;
};

}  // namespace huddle::team
