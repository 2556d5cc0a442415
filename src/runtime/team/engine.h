// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The protocols of one team, each set up at its first use. A BoundPlan binds a plan to the protocol
// that runs it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/context/native_context.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/registration.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/peer_access.h"
#include "runtime/team/team_memory.h"

namespace huddle::team {

using select::Call;

// The memory of a protocol. The protocol itself is in a derived class that engine.cc defines.
struct Instance {
  virtual ~Instance() = default;

  std::vector<std::byte*> shared;
  std::unique_ptr<std::byte[]> scratch;            // uninitialized: pages are mapped on first use
  std::vector<context::ProtocolContext> contexts;  // by path to peers' memory
};

// A plan whose protocol is set up.
class BoundPlan {
 public:
  using Context = context::ProtocolContext;
  using Run = void(void* protocol, const Context& context, const select::Plan& plan,
                   const Call& call);
  // Copies the plan and keeps references to the other arguments.
  BoundPlan(Run* run, void* protocol, const Context& context, const select::Plan& plan)
      : run_(run), protocol_(protocol), context_(&context), plan_(plan) {}

  void operator()(const Call& call) const { run_(protocol_, *context_, plan_, call); }
  const select::Plan& plan() const { return plan_; }

 private:
  Run* run_;
  void* protocol_;
  const Context* context_;
  select::Plan plan_;
};

class Engine {
 public:
  // Keeps references. Allocates no memory.
  Engine(TeamMemory& team_memory, const SelectionInputs& selection_inputs,
         context::Waiting& waiting, const PeerAccess& reach);

  // Returns the plan bound to its protocol. The first use of a protocol is collective because it
  // sets up the protocol; then either all ranks throw the same FailureError or none does.
  // Requires: if the plan accesses peers' memory, PeerAccess::refusals() has shown that this works.
  BoundPlan bound(const select::Plan& plan);
  // Returns the approximate time of the plan's set-up, including the first accesses to its memory;
  // 0 if its protocol is set up. Returns infinity if there is no memory to determine it.
  double set_up_ns(const select::Plan& plan) const noexcept;

 private:
  // An instance that has been set up. Registration determines which plans share it.
  struct Entry {
    const void* protocol_type = nullptr;
    std::size_t capacity = 0;  // see Registration
    select::Plan plan;         // the plan that set up the instance
    std::unique_ptr<Instance> instance;
  };

  template <class PlanOfIt>
  BoundPlan bound_plan_for(const PlanOfIt& plan);
  // Returns the instance that can run the plan, or null if none is set up.
  template <class Protocol, class PlanOfIt>
  Instance* find_instance(const PlanOfIt& plan) const;
  // Returns the plan's instance, and sets it up if this is its first use.
  template <class Protocol, class PlanOfIt>
  Instance& instance_for(const PlanOfIt& plan);
  // Allocates the memory of the protocol that `make` returns. Collective.
  template <class Make>
  std::unique_ptr<Instance> set_up(Make make);
  // Sets the peers' memories and the heap in the instance's contexts, of which there is one per
  // path.
  void set_peers(Instance& instance) const;
  // Returns the parameters from which this rank's protocols are constructed.
  select::ProtocolInputs setting() const {
    return {locality_, resources_, reduction_order_, team_memory_.rank()};
  }

  TeamMemory& team_memory_;
  const node::RankLocality& locality_;
  const select::TeamResources& resources_;
  context::Waiting& waiting_;
  const PeerAccess& peer_access_;
  const node::ReductionOrder& reduction_order_;

  std::vector<Entry> entries_;
};

}  // namespace huddle::team
