// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The protocols of one team, each set up at its first use. A Ready binds a plan to its protocol.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/context/native_context.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduction_order.h"
#include "runtime/node/slot_exchange.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/run_plan.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/peer_access.h"
#include "runtime/team/team_memory.h"

namespace huddle::team {

using select::Call;

// A protocol and its memory.
template <class Protocol>
struct Instance {
  explicit Instance(Protocol made);

  Protocol protocol;
  std::vector<std::byte*> shared;
  std::unique_ptr<std::byte[]> scratch;            // uninitialized: pages are mapped on first use
  std::vector<context::ProtocolContext> contexts;  // by peer memory path
};

// A plan whose protocol is set up.
class Ready {
 public:
  using Context = context::ProtocolContext;
  using Run = void(void* protocol, const Context& context, const select::Plan& plan,
                   const Call& call);
  // Copies the plan and keeps references to the other arguments.
  Ready(Run* run, void* protocol, const Context& context, const select::Plan& plan)
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
  Ready ready(const select::Plan& plan);

 private:
  template <class Protocol>
  using Slot = std::unique_ptr<Instance<Protocol>>;
  template <class Plan, class Protocol>
  struct Planned {
    Plan plan;
    Slot<Protocol> instance;
  };

  Ready ready(const select::TreeBarrierPlan& plan);
  Ready ready(const select::DisseminationPlan& plan);
  Ready ready(const select::InlineBcastPlan& plan);
  Ready ready(const node::PipelinedBcast::Plan& plan);
  Ready ready(const node::SegmentedBcast::Plan& plan);
  Ready ready(const node::ExchangeReduce::Plan& plan);
  Ready ready(const node::TreeReduce::Plan& plan);
  Ready ready(const node::SlicedReduce::Plan& plan);
  Ready ready(const node::SlotExchange::Plan& plan);
  Ready ready(const node::PairExchange::Plan& plan);
  Ready ready(const select::DirectExchangePlan& plan);
  Ready ready(const select::DirectReducePlan& plan);
  Ready ready(const select::AnnouncedPlan& plan);
  Ready ready(const select::PushedPlan& plan);
  Ready ready(const node::DoublingExchange::Plan& plan);

  // The parameters from which this rank's protocols are constructed.
  select::Setting setting() const {
    return {locality_, resources_, association_, team_memory_.rank()};
  }
  // Allocates the memory of the protocol that `make` returns. Collective.
  template <class Make>
  auto set_up(Make make);
  // Sets the peers' memory and the heap in the instance's contexts, one for each path.
  template <class Protocol>
  void set_peers(Instance<Protocol>& instance) const;
  // Both return the plan's instance and set it up if this is its first use.
  template <class Protocol, class Plan>
  Instance<Protocol>& at_hand(Slot<Protocol>& slot, const Plan& plan);
  template <class Plan, class Protocol>
  Instance<Protocol>& at_hand(std::vector<Planned<Plan, Protocol>>& list, const Plan& plan);

  TeamMemory& team_memory_;
  const node::RankLocality& locality_;
  const select::TeamResources& resources_;
  context::Waiting& waiting_;
  const PeerAccess& peer_access_;
  const node::ReductionOrder& association_;

  std::vector<Planned<select::TreeBarrierPlan, node::TreeBarrier>> tree_barriers_;
  std::vector<Planned<select::DisseminationPlan, node::DisseminationBarrier>> disseminations_;
  Slot<node::InlineBcast> inline_bcast_;
  Slot<node::PipelinedBcast> pipelined_bcast_;
  Slot<node::SegmentedBcast> segmented_bcast_;
  Slot<node::ExchangeReduce> exchange_;
  Slot<node::TreeReduce> tree_reduce_;
  Slot<node::SlicedReduce> sliced_reduce_;
  Slot<node::SlotExchange> slot_exchange_;
  Slot<node::PairExchange> pair_exchange_;
  Slot<node::DirectExchange> direct_exchange_;
  Slot<node::DirectReduce> direct_reduce_;
  Slot<node::DoublingExchange> doubling_exchange_;
};

}  // namespace huddle::team
