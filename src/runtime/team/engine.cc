// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/engine.h"

#include <algorithm>
#include <utility>

namespace huddle::team {
namespace {

using context::NativeContext;

// Returns the context of one call.
NativeContext world_of(const context::ProtocolContext& context, const Call& call) {
  return NativeContext(
      context, {static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output)});
}

template <class Plan, class Protocol>
Ready bound(Instance<Protocol>& instance, const Plan& plan) {
  const auto run = [](void* protocol, const context::ProtocolContext& context,
                      const select::Plan& of_call, const Call& call) {
    NativeContext w = world_of(context, call);
    select::run_plan(*static_cast<Protocol*>(protocol), w, *std::get_if<Plan>(&of_call), call);
  };
  return {run, &instance.protocol, instance.contexts[select::path_of(plan)], plan};
}

template <class Protocol>
std::size_t scratch_bytes_of(const Protocol& protocol) {
  if constexpr (requires { protocol.scratch_bytes(); }) {
    return protocol.scratch_bytes();
  } else {
    return 0;
  }
}

// Returns the memory that a protocol needs. If it does not state its part of flags, all may be
// flags.
template <class Protocol>
TeamMemory::Memory memory_of(const Protocol& protocol) {
  if constexpr (requires { protocol.flags_bytes(); }) {
    return {protocol.shared_bytes(), protocol.flags_bytes()};
  } else {
    return {protocol.shared_bytes(), protocol.shared_bytes()};
  }
}

}  // namespace

template <class Protocol>
Instance<Protocol>::Instance(Protocol made)
    : protocol(std::move(made)),
      scratch(std::make_unique_for_overwrite<std::byte[]>(scratch_bytes_of(protocol))) {}

Engine::Engine(TeamMemory& team_memory, const SelectionInputs& selection_inputs,
               context::Waiting& waiting, const PeerAccess& reach)
    : team_memory_(team_memory),
      locality_(selection_inputs.locality()),
      resources_(selection_inputs.resources()),
      waiting_(waiting),
      peer_access_(reach),
      association_(selection_inputs.association()) {}

// All allocations, including those of the protocol's private memory, are within the step that the
// ranks agree on: if a rank failed later, the others would wait for it forever.
template <class Make>
auto Engine::set_up(Make make) {
  Slot<decltype(make())> instance;
  std::vector<std::byte*> shared = team_memory_.allocate([&] {
    instance = std::make_unique<Instance<decltype(make())>>(make());
    instance->contexts.resize(peer_access_.paths());
    return memory_of(instance->protocol);
  });
  instance->shared = std::move(shared);
  for (context::ProtocolContext& context : instance->contexts) {
    context = {.rank = team_memory_.rank(),
               .ranks = team_memory_.ranks(),
               .shared = instance->shared.data(),
               .scratch = instance->scratch.get(),
               .waiting = &waiting_};
  }
  set_peers(*instance);
  return instance;
}

template <class Protocol>
void Engine::set_peers(Instance<Protocol>& instance) const {
  for (std::size_t path = 0; path < instance.contexts.size(); ++path) {
    instance.contexts[path].peers =
        peer_access_.memories(static_cast<single_copy::PathNumber>(path));
    instance.contexts[path].heap = peer_access_.heap();
  }
}

template <class Protocol, class Plan>
Instance<Protocol>& Engine::at_hand(Slot<Protocol>& slot, const Plan& plan) {
  if (!slot) slot = set_up([&] { return select::protocol_for(plan, setting()); });
  return *slot;
}

template <class Plan, class Protocol>
Instance<Protocol>& Engine::at_hand(std::vector<Planned<Plan, Protocol>>& list, const Plan& plan) {
  const auto known =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.plan == plan; });
  if (known != list.end()) return *known->instance;
  list.push_back({plan, set_up([&] {
                    list.reserve(list.size() + 1);
                    return select::protocol_for(plan, setting());
                  })});
  return *list.back().instance;
}

Ready Engine::ready(const select::Plan& plan) {
  return std::visit([this](const auto& one) { return ready(one); }, plan);
}

Ready Engine::ready(const select::TreeBarrierPlan& plan) {
  return bound(at_hand(tree_barriers_, plan), plan);
}
Ready Engine::ready(const select::DisseminationPlan& plan) {
  return bound(at_hand(disseminations_, plan), plan);
}
Ready Engine::ready(const select::InlineBcastPlan& plan) {
  return bound(at_hand(inline_bcast_, plan), plan);
}
Ready Engine::ready(const node::PipelinedBcast::Plan& plan) {
  return bound(at_hand(pipelined_bcast_, plan), plan);
}
Ready Engine::ready(const node::SegmentedBcast::Plan& plan) {
  return bound(at_hand(segmented_bcast_, plan), plan);
}
Ready Engine::ready(const node::ExchangeReduce::Plan& plan) {
  return bound(at_hand(exchange_, plan), plan);
}
Ready Engine::ready(const node::TreeReduce::Plan& plan) {
  return bound(at_hand(tree_reduce_, plan), plan);
}
Ready Engine::ready(const node::SlicedReduce::Plan& plan) {
  return bound(at_hand(sliced_reduce_, plan), plan);
}
Ready Engine::ready(const node::SlotExchange::Plan& plan) {
  return bound(at_hand(slot_exchange_, plan), plan);
}
Ready Engine::ready(const node::DoublingExchange::Plan& plan) {
  return bound(at_hand(doubling_exchange_, plan), plan);
}
Ready Engine::ready(const node::PairExchange::Plan& plan) {
  return bound(at_hand(pair_exchange_, plan), plan);
}

// The pair exchange may have been set up before the peers' memory was opened.
Ready Engine::ready(const select::AnnouncedPlan& plan) {
  auto& pairs = at_hand(pair_exchange_, plan);
  set_peers(pairs);
  return bound(pairs, plan);
}

Ready Engine::ready(const select::DirectExchangePlan& plan) {
  return bound(at_hand(direct_exchange_, plan), plan);
}
Ready Engine::ready(const select::PushedPlan& plan) {
  return bound(at_hand(direct_exchange_, plan), plan);
}
Ready Engine::ready(const select::DirectReducePlan& plan) {
  return bound(at_hand(direct_reduce_, plan), plan);
}

}  // namespace huddle::team
