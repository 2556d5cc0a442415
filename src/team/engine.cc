// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/engine.h"

#include <algorithm>
#include <utility>

namespace huddle::team {
namespace {

using select::Operation;
using world::first_sequence;
using world::hardware::Hardware;

// The world of one call.
template <class Protocol>
Hardware world_of(const Instance<Protocol>& instance, const Call& call) {
  return Hardware(instance.surroundings, {static_cast<const std::byte*>(call.input),
                                          static_cast<std::byte*>(call.output)});
}

// `go` gets the protocol, its world, the plan and the call.
template <class Plan, class Protocol, class Go>
Ready bound(Instance<Protocol>& instance, const Plan& plan, Go) {
  static_assert(std::is_empty_v<Go>);
  const auto run = [](void* at, const select::Plan& of_call, const Call& call) {
    auto& it = *static_cast<Instance<Protocol>*>(at);
    Hardware w = world_of(it, call);
    Go()(it.protocol, w, *std::get_if<Plan>(&of_call), call);
  };
  return {run, &instance, plan};
}

constexpr auto run_barrier = [](auto& protocol, Hardware& w, const auto&, const Call&) {
  protocol.run(w);
};

constexpr auto run_bcast = [](auto& protocol, Hardware& w, const auto& plan, const Call& call) {
  protocol.run(w, call.count, call.root, plan);
};

// By protocols that have all reductions, and by those that have some of them.
constexpr auto run_reduction = [](auto& protocol, Hardware& w, const auto& plan, const Call& call) {
  const memory::Reduction& reduction = *call.reduction;
  if constexpr (requires { protocol.reduce(w, call.count, reduction, call.root, plan); }) {
    if (call.operation == Operation::reduce) {
      return protocol.reduce(w, call.count, reduction, call.root, plan);
    }
  }
  if constexpr (requires { protocol.reduce_scatter(w, call.incoming, reduction, plan); }) {
    if (select::reduces_to_blocks(call.operation)) {
      return protocol.reduce_scatter(w, call.incoming, reduction, plan);
    }
  }
  if constexpr (requires { protocol.scan(w, call.count, reduction, plan); }) {
    if (call.operation == Operation::scan) return protocol.scan(w, call.count, reduction, plan);
    if (call.operation == Operation::exscan) return protocol.exscan(w, call.count, reduction, plan);
  }
  protocol.allreduce(w, call.count, reduction, plan);
};

constexpr auto run_slots = [](node::SlotExchange& protocol, Hardware& w,
                              const node::SlotExchange::Plan& plan, const Call& call) {
  if (call.operation == Operation::alltoall) {
    protocol.alltoall(w, call.count, call.in_place, plan);
  } else {
    protocol.allgather(w, call.incoming, call.count, call.in_place, plan);
  }
};

constexpr auto run_doubling = [](node::DoublingExchange& protocol, Hardware& w,
                                 const node::DoublingExchange::Plan& plan, const Call& call) {
  protocol.allgather(w, call.incoming, call.in_place, plan);
};

// What is exchanged in place has to be turned to by both of a pair at once.
constexpr auto run_pairs = [](node::PairExchange& protocol, Hardware& w,
                              const node::PairExchange::Plan& plan, const Call& call) {
  node::PairExchange::Plan of_call = plan;
  using Order = node::PairExchange::Order;
  if (call.in_place && plan.order == Order::staggered) of_call.order = Order::paired;
  protocol.run(w, call.outgoing, call.incoming, call.in_place, of_call);
};

constexpr auto run_announced = [](node::PairExchange& protocol, Hardware& w,
                                  const select::AnnouncedPlan& plan,
                                  const Call& call) { run_pairs(protocol, w, plan.pairs, call); };

constexpr auto run_direct_exchange = [](node::DirectExchange& protocol, Hardware& w,
                                        const node::DirectExchange::Plan& plan, const Call& call) {
  switch (call.operation) {
    case Operation::bcast:
      return protocol.bcast(w, call.count, call.root, plan);
    case Operation::allgather:
    case Operation::allgatherv:
      return protocol.allgather(w, call.incoming, call.in_place);
    case Operation::scatter:
      return protocol.scatter(w, call.outgoing, call.incoming.of(call.root), call.root,
                              call.in_place, plan);
    case Operation::alltoall:
      if (call.in_place) return protocol.swap(w, call.incoming);
      return protocol.exchange(w, call.outgoing, call.incoming, false);
    case Operation::gather:
      return protocol.exchange(w, call.outgoing, call.incoming, call.in_place);
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::barrier:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return;  // never chosen for them
  }
};

constexpr auto run_pushed = [](node::DirectExchange& protocol, Hardware& w,
                               const select::PushedPlan& plan, const Call& call) {
  protocol.gather(w, call.outgoing.of(call.root), call.incoming, call.root, call.in_place,
                  plan.writers);
};

template <class Protocol>
std::size_t scratch_bytes_of(const Protocol& protocol) {
  if constexpr (requires { protocol.scratch_bytes(); }) {
    return protocol.scratch_bytes();
  } else {
    return 0;
  }
}

// Where a protocol does not say which part of it are flags, all of it may be.
template <class Protocol>
Ground::Memory memory_of(const Protocol& protocol) {
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

Engine::Engine(Ground& ground, const Outlook& outlook, world::hardware::Waiting& waiting,
               const Reach& reach)
    : ground_(ground),
      seats_(outlook.seats()),
      provision_(outlook.provision()),
      waiting_(waiting),
      reach_(reach),
      association_(outlook.association()) {}

// Whatever takes memory is part of what the ranks agree on, the protocol's private memory as well:
// a rank that failed later would be waited for without end.
template <class Make>
auto Engine::set_up(Make make) {
  Slot<decltype(make())> instance;
  std::vector<std::byte*> shared = ground_.lay_out([&] {
    instance = std::make_unique<Instance<decltype(make())>>(make());
    return memory_of(instance->protocol);
  });
  instance->shared = std::move(shared);
  instance->surroundings = {ground_.rank(),
                            ground_.ranks(),
                            instance->shared.data(),
                            instance->scratch.get(),
                            &waiting_,
                            reach_.memories(),
                            reach_.heap()};
  return instance;
}

template <class Protocol, class... Arguments>
Instance<Protocol>& Engine::at_hand(Slot<Protocol>& slot, const Arguments&... arguments) {
  if (!slot) slot = set_up([&] { return Protocol(arguments..., first_sequence); });
  return *slot;
}

template <class Plan, class Protocol, class Make>
Instance<Protocol>& Engine::at_hand(std::vector<Planned<Plan, Protocol>>& list, const Plan& plan,
                                    Make make) {
  const auto known =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.plan == plan; });
  if (known != list.end()) return *known->instance;
  list.push_back({plan, set_up([&] {
                    list.reserve(list.size() + 1);
                    return make();
                  })});
  return *list.back().instance;
}

Ready Engine::ready(const select::Plan& plan) {
  return std::visit([this](const auto& one) { return ready(one); }, plan);
}

Ready Engine::ready(const select::TreeBarrierPlan& plan) {
  auto& instance = at_hand(tree_barriers_, plan, [&] {
    return node::TreeBarrier(node::tree(plan.shape, seats_, 0), plan.parameters, ground_.rank(),
                             first_sequence);
  });
  return bound(instance, plan, run_barrier);
}

Ready Engine::ready(const select::DisseminationPlan& plan) {
  auto& instance = at_hand(disseminations_, plan, [&] {
    return node::DisseminationBarrier(plan.parameters, ground_.rank(), ground_.ranks(),
                                      first_sequence);
  });
  return bound(instance, plan, run_barrier);
}

Ready Engine::ready(const select::InlineBcastPlan& plan) {
  auto& instance = at_hand(inline_bcast_, provision_.inline_bcast, seats_, ground_.rank());
  return bound(instance, plan,
               [](node::InlineBcast& protocol, Hardware& w, const select::InlineBcastPlan& of_call,
                  const Call& call) { protocol.run(w, call.count, call.root, of_call.shape); });
}

Ready Engine::ready(const node::PipelinedBcast::Plan& plan) {
  auto& instance = at_hand(pipelined_bcast_, provision_.pipelined_bcast, seats_, ground_.rank());
  return bound(instance, plan, run_bcast);
}

Ready Engine::ready(const node::SegmentedBcast::Plan& plan) {
  auto& instance = at_hand(segmented_bcast_, provision_.segmented_bcast, seats_, ground_.rank());
  return bound(instance, plan, run_bcast);
}

Ready Engine::ready(const node::ExchangeReduce::Plan& plan) {
  return bound(at_hand(exchange_, provision_.exchange, association_), plan, run_reduction);
}

Ready Engine::ready(const node::TreeReduce::Plan& plan) {
  return bound(at_hand(tree_reduce_, provision_.tree_reduce, association_), plan, run_reduction);
}

Ready Engine::ready(const node::SlicedReduce::Plan& plan) {
  auto& instance = at_hand(sliced_reduce_, provision_.sliced_reduce, association_, ground_.ranks());
  return bound(instance, plan, run_reduction);
}

Ready Engine::ready(const node::SlotExchange::Plan& plan) {
  auto& instance =
      at_hand(slot_exchange_, provision_.slot_exchange, ground_.rank(), ground_.ranks());
  return bound(instance, plan, run_slots);
}

Ready Engine::ready(const node::DoublingExchange::Plan& plan) {
  auto& instance =
      at_hand(doubling_exchange_, provision_.doubling_exchange, ground_.rank(), ground_.ranks());
  return bound(instance, plan, run_doubling);
}

Instance<node::PairExchange>& Engine::pairs() {
  return at_hand(pair_exchange_, provision_.pair_exchange, ground_.ranks());
}

Ready Engine::ready(const node::PairExchange::Plan& plan) {
  return bound(pairs(), plan, run_pairs);
}

// Pairs may have been set up before it was found out who can read whom.
Ready Engine::ready(const select::AnnouncedPlan& plan) {
  pairs().surroundings.peers = reach_.memories();
  pairs().surroundings.heap = reach_.heap();
  return bound(pairs(), plan, run_announced);
}

Instance<node::DirectExchange>& Engine::direct_exchange() {
  return at_hand(direct_exchange_, provision_.direct_exchange, ground_.ranks());
}

Ready Engine::ready(const node::DirectExchange::Plan& plan) {
  return bound(direct_exchange(), plan, run_direct_exchange);
}

Ready Engine::ready(const select::PushedPlan& plan) {
  return bound(direct_exchange(), plan, run_pushed);
}

Ready Engine::ready(const node::DirectReduce::Plan& plan) {
  auto& instance = at_hand(direct_reduce_, provision_.direct_reduce, association_);
  return bound(instance, plan, run_reduction);
}

}  // namespace huddle::team
