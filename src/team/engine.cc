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

constexpr auto run_reduction = [](auto& protocol, Hardware& w, const auto& plan, const Call& call) {
  if (call.operation == Operation::reduce) {
    protocol.reduce(w, call.count, *call.reduction, call.root, plan);
  } else {
    protocol.allreduce(w, call.count, *call.reduction, plan);
  }
};

template <class Protocol>
std::size_t scratch_bytes_of(const Protocol& protocol) {
  if constexpr (requires { protocol.scratch_bytes(); }) {
    return protocol.scratch_bytes();
  } else {
    return 0;
  }
}

template <class List, class Plan>
auto* find(List& list, const Plan& plan) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.plan == plan; });
  return found == list.end() ? nullptr : found->instance.get();
}

}  // namespace

template <class Protocol>
Instance<Protocol>::Instance(Protocol made)
    : protocol(std::move(made)), scratch(scratch_bytes_of(protocol)) {}

Engine::Engine(Ground& ground, const node::Seats& seats, const select::Provision& provision,
               world::hardware::Waiting& waiting)
    : ground_(ground),
      seats_(seats),
      provision_(provision),
      waiting_(waiting),
      association_(seats) {}

// Whatever takes memory is part of what the ranks agree on, the protocol's private memory as well:
// a rank that failed later would be waited for without end.
template <class Make>
auto Engine::set_up(Make make) {
  Slot<decltype(make())> instance;
  std::vector<std::byte*> shared = ground_.lay_out([&] {
    instance = std::make_unique<Instance<decltype(make())>>(make());
    return instance->protocol.shared_bytes();
  });
  instance->shared = std::move(shared);
  instance->surroundings = {ground_.rank(), ground_.ranks(), instance->shared.data(),
                            instance->scratch.data(), &waiting_};
  return instance;
}

Ready Engine::ready(const select::Plan& plan) {
  return std::visit([this](const auto& one) { return ready(one); }, plan);
}

Ready Engine::ready(const select::TreeBarrierPlan& plan) {
  auto* instance = find(tree_barriers_, plan);
  if (instance == nullptr) {
    tree_barriers_.push_back({plan, set_up([&] {
                                return node::TreeBarrier(node::tree(plan.shape, seats_, 0),
                                                         plan.parameters, ground_.rank(),
                                                         first_sequence);
                              })});
    instance = tree_barriers_.back().instance.get();
  }
  return bound(*instance, plan, run_barrier);
}

Ready Engine::ready(const select::DisseminationPlan& plan) {
  auto* instance = find(disseminations_, plan);
  if (instance == nullptr) {
    disseminations_.push_back({plan, set_up([&] {
                                 return node::DisseminationBarrier(plan.parameters, ground_.rank(),
                                                                   ground_.ranks(), first_sequence);
                               })});
    instance = disseminations_.back().instance.get();
  }
  return bound(*instance, plan, run_barrier);
}

Ready Engine::ready(const select::InlineBcastPlan& plan) {
  if (!inline_bcast_) {
    inline_bcast_ = set_up([&] {
      return node::InlineBcast(provision_.inline_bcast, seats_, ground_.rank(), first_sequence);
    });
  }
  return bound(*inline_bcast_, plan,
               [](node::InlineBcast& protocol, Hardware& w, const select::InlineBcastPlan& of_call,
                  const Call& call) { protocol.run(w, call.count, call.root, of_call.shape); });
}

Ready Engine::ready(const node::PipelinedBcast::Plan& plan) {
  if (!pipelined_bcast_) {
    pipelined_bcast_ = set_up([&] {
      return node::PipelinedBcast(provision_.pipelined_bcast, seats_, ground_.rank(),
                                  first_sequence);
    });
  }
  return bound(*pipelined_bcast_, plan, run_bcast);
}

Ready Engine::ready(const node::SegmentedBcast::Plan& plan) {
  if (!segmented_bcast_) {
    segmented_bcast_ = set_up([&] {
      return node::SegmentedBcast(provision_.segmented_bcast, seats_, ground_.rank(),
                                  first_sequence);
    });
  }
  return bound(*segmented_bcast_, plan, run_bcast);
}

Ready Engine::ready(const node::ExchangeAllreduce::Plan& plan) {
  if (!exchange_) {
    exchange_ = set_up(
        [&] { return node::ExchangeAllreduce(provision_.exchange, association_, first_sequence); });
  }
  return bound(*exchange_, plan,
               [](node::ExchangeAllreduce& protocol, Hardware& w,
                  const node::ExchangeAllreduce::Plan& of_call, const Call& call) {
                 protocol.allreduce(w, call.count, *call.reduction, of_call);
               });
}

Ready Engine::ready(const node::TreeReduce::Plan& plan) {
  if (!tree_reduce_) {
    tree_reduce_ = set_up(
        [&] { return node::TreeReduce(provision_.tree_reduce, association_, first_sequence); });
  }
  return bound(*tree_reduce_, plan, run_reduction);
}

Ready Engine::ready(const node::SlicedReduce::Plan& plan) {
  if (!sliced_reduce_) {
    sliced_reduce_ = set_up([&] {
      return node::SlicedReduce(provision_.sliced_reduce, association_, ground_.ranks(),
                                first_sequence);
    });
  }
  return bound(*sliced_reduce_, plan, run_reduction);
}

}  // namespace huddle::team
