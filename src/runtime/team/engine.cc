// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/engine.h"

#include <exception>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace huddle::team {
namespace {

using context::NativeContext;

// Returns the context in which a protocol runs one call.
NativeContext context_of(const context::ProtocolContext& context, const Call& call) {
  return NativeContext(
      context, {static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output)});
}

template <class Protocol>
std::size_t scratch_bytes_of(const Protocol& protocol) {
  if constexpr (requires { protocol.scratch_bytes(); }) {
    return protocol.scratch_bytes();
  } else {
    return 0;
  }
}

// Returns the memory that a protocol needs. If the protocol has no flags_bytes(), all of its memory
// is initialized as flags.
template <class Protocol>
TeamMemory::Memory memory_of(const Protocol& protocol) {
  if constexpr (requires { protocol.flags_bytes(); }) {
    return {protocol.shared_bytes(), protocol.flags_bytes()};
  } else {
    return {protocol.shared_bytes(), protocol.shared_bytes()};
  }
}

template <class Protocol>
struct InstanceOf : Instance {
  explicit InstanceOf(Protocol made) : protocol(std::move(made)) {
    scratch = std::make_unique_for_overwrite<std::byte[]>(scratch_bytes_of(protocol));
  }

  Protocol protocol;
};

// The address of this variable identifies the type of a protocol.
template <class Protocol>
constexpr char type_of_protocol = 0;

template <class PlanOfIt>
constexpr bool has_own_instance = requires {
  requires select::Registration<PlanOfIt>::one_instance_per_plan;
};

// Returns the capacity of the instance that runs the plan, or 0 if its protocol has only one.
template <class PlanOfIt>
std::size_t capacity_for(const PlanOfIt& plan, const select::ProtocolInputs& setting) {
  if constexpr (requires { select::Registration<PlanOfIt>::capacity(plan, setting); }) {
    return select::Registration<PlanOfIt>::capacity(plan, setting);
  } else {
    return 0;
  }
}

// Returns whether `plan` can use the instance that `set_up_by`, a plan with the same type of
// protocol and the same capacity, has set up.
template <class PlanOfIt>
bool serves(const select::Plan& set_up_by, const PlanOfIt& plan) {
  if constexpr (has_own_instance<PlanOfIt>) {
    return std::get<PlanOfIt>(set_up_by) == plan;
  } else {
    return true;
  }
}

template <class PlanOfIt, class Protocol>
void run(void* protocol, const context::ProtocolContext& context, const select::Plan& plan,
         const Call& call) {
  NativeContext ctx = context_of(context, call);
  select::Registration<PlanOfIt>::run(*static_cast<Protocol*>(protocol), ctx,
                                      *std::get_if<PlanOfIt>(&plan), call);
}

}  // namespace

Engine::Engine(TeamMemory& team_memory, const SelectionInputs& selection_inputs,
               context::Waiting& waiting, const PeerAccess& reach)
    : team_memory_(team_memory),
      locality_(selection_inputs.locality()),
      resources_(selection_inputs.resources()),
      waiting_(waiting),
      peer_access_(reach),
      reduction_order_(selection_inputs.reduction_order()) {}

// All allocations, including that of the protocol's private memory, are made in the function passed
// to allocate(), on whose success the ranks agree: if a rank failed later, the others would wait
// for it forever.
template <class Make>
std::unique_ptr<Instance> Engine::set_up(Make make) {
  std::unique_ptr<Instance> instance;
  std::vector<std::byte*> shared = team_memory_.allocate([&] {
    entries_.reserve(entries_.size() + 1);
    auto made = std::make_unique<InstanceOf<decltype(make())>>(make());
    made->contexts.resize(peer_access_.paths());
    const TeamMemory::Memory memory = memory_of(made->protocol);
    instance = std::move(made);
    return memory;
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

void Engine::set_peers(Instance& instance) const {
  for (std::size_t path = 0; path < instance.contexts.size(); ++path) {
    instance.contexts[path].peers =
        peer_access_.memories(static_cast<single_copy::PathNumber>(path));
    instance.contexts[path].heap = peer_access_.heap();
  }
}

template <class Protocol, class PlanOfIt>
Instance* Engine::find_instance(const PlanOfIt& plan) const {
  const std::size_t capacity = capacity_for(plan, setting());
  for (const Entry& entry : entries_) {
    if (entry.protocol_type == &type_of_protocol<Protocol> && entry.capacity == capacity &&
        serves(entry.plan, plan)) {
      return entry.instance.get();
    }
  }
  return nullptr;
}

template <class Protocol, class PlanOfIt>
Instance& Engine::instance_for(const PlanOfIt& plan) {
  if (Instance* const known = find_instance<Protocol>(plan)) return *known;
  std::unique_ptr<Instance> instance =
      set_up([&] { return select::Registration<PlanOfIt>::protocol(plan, setting()); });
  entries_.push_back(
      {&type_of_protocol<Protocol>, capacity_for(plan, setting()), plan, std::move(instance)});
  return *entries_.back().instance;
}

double Engine::set_up_ns(const select::Plan& plan) const noexcept {
  // About 1 us per page (see small_queue_bytes). The ranks are assumed to agree on the addresses in
  // 20 us.
  constexpr double ns_per_byte = 1000.0 / node::page_bytes;
  constexpr double agreement_ns = 20000;
  const auto bytes_of = [this](const auto& one) -> std::optional<std::size_t> {
    const auto make = [&] {
      return select::Registration<std::decay_t<decltype(one)>>::protocol(one, setting());
    };
    if (find_instance<decltype(make())>(one) != nullptr) return std::nullopt;
    const auto protocol = make();
    return memory_of(protocol).bytes + scratch_bytes_of(protocol);
  };
  try {
    const std::optional<std::size_t> bytes = std::visit(bytes_of, plan);
    return bytes ? agreement_ns + ns_per_byte * static_cast<double>(*bytes) : 0;
  } catch (const std::exception&) {
    return std::numeric_limits<double>::infinity();
  }
}

BoundPlan Engine::bound(const select::Plan& plan) {
  return std::visit([this](const auto& one) { return bound_plan_for(one); }, plan);
}

template <class PlanOfIt>
BoundPlan Engine::bound_plan_for(const PlanOfIt& plan) {
  using Protocol = decltype(select::Registration<PlanOfIt>::protocol(plan, setting()));
  Instance& instance = instance_for<Protocol>(plan);
  // Another plan may have set up the protocol before this rank opened its peers' memory.
  if constexpr (select::DirectPlan<PlanOfIt>) set_peers(instance);
  return {run<PlanOfIt, Protocol>, &static_cast<InstanceOf<Protocol>&>(instance).protocol,
          instance.contexts[select::path_of(plan)], plan};
}

}  // namespace huddle::team
