// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A group of ranks on one machine and its collectives. For one thread at a time; a process may have
// many, each in its own thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "machine/cost.h"
#include "memory/reduction.h"
#include "node/seats.h"
#include "select/candidate.h"
#include "select/explain.h"
#include "select/provision.h"
#include "team/bootstrap.h"
#include "team/call.h"
#include "team/context.h"
#include "team/engine.h"
#include "team/ground.h"
#include "team/settlement.h"

namespace huddle::team {

class Team {
 public:
  // Collective. All ranks throw the same FailureError or none does.
  Team(Context& context, const Bootstrap& bootstrap);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // All collective, with equal counts, operators and roots on all ranks. Throw FailureError, on all
  // ranks together, where there is no memory for a protocol that is used for the first time; throw
  // PeerLost where a member has died, and from then on always.
  void barrier();
  // The root's buffer is only read.
  void bcast(void* buffer, std::size_t bytes, int root);
  // `input` may be `output`; only the root needs an output.
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  void allreduce(const void* input, void* output, std::size_t count,
                 const memory::Reduction& reduction);

  // The same by a plan of the caller's choice, equal on all ranks. pre: the plan is one of those
  // that explain() gives for such a call.
  void run_by(const select::Plan& plan, const Call& call);

  // What would run, what else could, and what each would cost.
  select::Explanation explain(const select::Request& request) const;

 private:
  void run(const Call& call);
  template <class Attempt>
  auto unless_lost(Attempt attempt);
  void run_ready(const Ready& ready, const Call& call);
  void run_alone(const Call& call);
  const Ready& ready_for(const Call& call);
  const Ready& ready_for_unusual(const Call& call);
  Ready choose(const select::Request& request);

  int rank_;
  int ranks_;
  Settlement settlement_;
  machine::CostModel model_;
  node::Seats seats_;
  select::Provision provision_;
  Ground ground_;
  world::hardware::Waiting waiting_;
  Engine engine_;
  // By operation and size class, once chosen.
  std::array<std::vector<std::optional<Ready>>, select::operations.size()> chosen_;
  struct Latest {
    const Ready* ready = nullptr;
    std::size_t bytes = 0;
  };
  std::array<Latest, select::operations.size()> latest_;  // by operation; points into chosen_
  std::optional<Ready> barrier_;                          // once chosen
  std::optional<Ready> unusual_;                          // for elements larger than any of C
  select::Request unusual_request_;
  std::optional<std::string> lost_;  // why the team cannot be used any more
};

}  // namespace huddle::team
