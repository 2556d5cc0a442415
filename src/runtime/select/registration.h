// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Registers each algorithm inside a node: the name that users know it by, how to create its
// protocol for one rank, and how to run a call with it in any context. A new algorithm needs three
// things: its plan among the alternatives of select::Plan, a specialization here, and an entry with
// predicted times in the list of an operation (algorithm.h). The engine of a team and the simulator
// need nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

// The rank and the team for which a protocol is created.
struct ProtocolInputs {
  const node::RankLocality& locality;
  const TeamResources& resources;
  const node::ReductionOrder& reduction_order;
  int rank = 0;

  int ranks() const { return locality.ranks(); }
};

// A specialization has
//   name                        as in `huddle explain` and HUDDLE_ALGO
//   protocol(plan, setting)     returns the protocol of one rank. Plans with the same protocol type
//                               share one instance in a team,
//   one_instance_per_plan       unless this is declared: then each plan has its own,
//   capacity(plan, setting)     or this: then plans with the same capacity share one
//   run(protocol, ctx, plan, call)   runs one call of this rank
//   piece_size(plan)            if the plan selects the size of pieces, and
//   copy_method(plan)           if it selects how these are copied: see candidate.h
template <class PlanOfIt>
struct Registration;

// Returns the method for pieces of that size, or nothing if they fit behind a flag: they then
// arrive with it, so there is no choice.
inline std::optional<memory::CopyMethod> method_of(memory::CopyMethod method,
                                                   std::size_t piece_bytes) {
  if (node::fits_behind_flag(piece_bytes)) return std::nullopt;
  return method;
}

// The part of a registration whose protocol has a small instance and a large one. A plan whose
// `bytes` fit into the small one uses that. `small` and `large` are the instances' parameters.
template <class Protocol, auto bytes, auto small, auto large>
struct InTwoSizes {
  static const auto& parameters(const typename Protocol::Plan& plan, const ProtocolInputs& at) {
    const auto& few = at.resources.small.*small;
    return plan.*bytes <= few.capacity_bytes ? few : at.resources.*large;
  }
  static std::size_t capacity(const typename Protocol::Plan& plan, const ProtocolInputs& at) {
    return parameters(plan, at).capacity_bytes;
  }
};

template <>
struct Registration<TreeBarrierPlan> {
  static constexpr std::string_view name = "tree";
  static constexpr bool one_instance_per_plan = true;

  static node::TreeBarrier protocol(const TreeBarrierPlan& plan, const ProtocolInputs& at) {
    return {node::tree(plan.shape, at.locality, 0), plan.parameters, at.rank,
            context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::TreeBarrier& protocol, Ctx& ctx, const TreeBarrierPlan&, const Call& call) {
    switch (call.barrier_phase) {
      case BarrierPhase::both:
        return protocol.run(ctx);
      case BarrierPhase::gather:
        return protocol.gather(ctx);
      case BarrierPhase::release:
        return protocol.release(ctx);
    }
  }
};

template <>
struct Registration<DisseminationPlan> {
  static constexpr std::string_view name = "dissemination";
  static constexpr bool one_instance_per_plan = true;

  static node::DisseminationBarrier protocol(const DisseminationPlan& plan,
                                             const ProtocolInputs& at) {
    return {plan.parameters, at.rank, at.ranks(), context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::DisseminationBarrier& protocol, Ctx& ctx, const DisseminationPlan&,
                  const Call&) {
    protocol.run(ctx);
  }
};

template <>
struct Registration<InlineBcastPlan> {
  static constexpr std::string_view name = "inline";

  static node::InlineBcast protocol(const InlineBcastPlan&, const ProtocolInputs& at) {
    return {at.resources.inline_bcast, at.locality, at.rank, context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::InlineBcast& protocol, Ctx& ctx, const InlineBcastPlan& plan,
                  const Call& call) {
    protocol.run(ctx, call.count, call.root, plan.shape);
  }
};

template <>
struct Registration<node::PipelinedBcast::Plan> {
  static constexpr std::string_view name = "pipelined";

  static std::size_t piece_size(const node::PipelinedBcast::Plan& plan) {
    return static_cast<std::size_t>(plan.fragment_cells) *
           node::PipelinedBcast::Parameters().cell_bytes;
  }
  static std::optional<memory::CopyMethod> copy_method(const node::PipelinedBcast::Plan& plan) {
    return plan.method;
  }

  static node::PipelinedBcast protocol(const node::PipelinedBcast::Plan&,
                                       const ProtocolInputs& at) {
    return {at.resources.pipelined_bcast, at.locality, at.rank, context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::PipelinedBcast& protocol, Ctx& ctx, const node::PipelinedBcast::Plan& plan,
                  const Call& call) {
    protocol.run(ctx, call.count, call.root, plan);
  }
};

template <>
struct Registration<node::SegmentedBcast::Plan> {
  static constexpr std::string_view name = "segmented";

  static std::size_t piece_size(const node::SegmentedBcast::Plan& plan) {
    return plan.segment_bytes;
  }
  static std::optional<memory::CopyMethod> copy_method(const node::SegmentedBcast::Plan& plan) {
    return plan.method;
  }

  static node::SegmentedBcast protocol(const node::SegmentedBcast::Plan&,
                                       const ProtocolInputs& at) {
    return {at.resources.segmented_bcast, at.locality, at.rank, context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::SegmentedBcast& protocol, Ctx& ctx, const node::SegmentedBcast::Plan& plan,
                  const Call& call) {
    protocol.run(ctx, call.count, call.root, plan);
  }
};

// Calls the protocol's member function for the operation. Some protocols do not implement all
// reductions.
template <class Protocol, context::Context Ctx, class PlanOfIt>
void run_reduction(Protocol& protocol, Ctx& ctx, const PlanOfIt& plan, const Call& call) {
  const memory::Reduction& reduction = *call.reduction;
  if constexpr (requires { protocol.reduce(ctx, call.count, reduction, call.root, plan); }) {
    if (call.operation == Operation::reduce) {
      return protocol.reduce(ctx, call.count, reduction, call.root, plan);
    }
  }
  if constexpr (requires { protocol.reduce_scatter(ctx, call.incoming, reduction, plan); }) {
    if (reduces_to_blocks(call.operation)) {
      return protocol.reduce_scatter(ctx, call.incoming, reduction, plan);
    }
  }
  if constexpr (requires { protocol.scan(ctx, call.count, reduction, plan); }) {
    if (call.operation == Operation::scan) return protocol.scan(ctx, call.count, reduction, plan);
    if (call.operation == Operation::exscan)
      return protocol.exscan(ctx, call.count, reduction, plan);
  }
  protocol.allreduce(ctx, call.count, reduction, plan);
}

template <>
struct Registration<node::ExchangeReduce::Plan>
    : InTwoSizes<node::ExchangeReduce, &node::ExchangeReduce::Plan::round_bytes,
                 &TeamResources::Small::exchange, &TeamResources::exchange> {
  static constexpr std::string_view name = "exchange";

  static std::size_t piece_size(const node::ExchangeReduce::Plan& plan) { return plan.round_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const node::ExchangeReduce::Plan& plan) {
    return method_of(plan.method, plan.round_bytes);
  }

  static node::ExchangeReduce protocol(const node::ExchangeReduce::Plan& plan,
                                       const ProtocolInputs& at) {
    return {parameters(plan, at), at.reduction_order, context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::ExchangeReduce& protocol, Ctx& ctx, const node::ExchangeReduce::Plan& plan,
                  const Call& call) {
    run_reduction(protocol, ctx, plan, call);
  }
};

template <>
struct Registration<node::TreeReduce::Plan>
    : InTwoSizes<node::TreeReduce, &node::TreeReduce::Plan::round_bytes,
                 &TeamResources::Small::tree_reduce, &TeamResources::tree_reduce> {
  static constexpr std::string_view name = "blocks";

  static std::size_t piece_size(const node::TreeReduce::Plan& plan) { return plan.round_bytes; }

  static node::TreeReduce protocol(const node::TreeReduce::Plan& plan, const ProtocolInputs& at) {
    return {parameters(plan, at), at.reduction_order, context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::TreeReduce& protocol, Ctx& ctx, const node::TreeReduce::Plan& plan,
                  const Call& call) {
    run_reduction(protocol, ctx, plan, call);
  }
};

template <>
struct Registration<node::SlicedReduce::Plan> {
  static constexpr std::string_view name = "slices";

  static std::size_t piece_size(const node::SlicedReduce::Plan& plan) { return plan.slice_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const node::SlicedReduce::Plan& plan) {
    return plan.method;
  }

  static node::SlicedReduce protocol(const node::SlicedReduce::Plan&, const ProtocolInputs& at) {
    return {at.resources.sliced_reduce, at.reduction_order, at.ranks(), context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::SlicedReduce& protocol, Ctx& ctx, const node::SlicedReduce::Plan& plan,
                  const Call& call) {
    run_reduction(protocol, ctx, plan, call);
  }
};

template <>
struct Registration<node::SlotExchange::Plan>
    : InTwoSizes<node::SlotExchange, &node::SlotExchange::Plan::round_bytes,
                 &TeamResources::Small::slot_exchange, &TeamResources::slot_exchange> {
  static constexpr std::string_view name = "slots";

  static std::size_t piece_size(const node::SlotExchange::Plan& plan) { return plan.round_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const node::SlotExchange::Plan& plan) {
    return method_of(plan.method, plan.round_bytes);
  }

  static node::SlotExchange protocol(const node::SlotExchange::Plan& plan,
                                     const ProtocolInputs& at) {
    return {parameters(plan, at), at.rank, at.ranks(), context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::SlotExchange& protocol, Ctx& ctx, const node::SlotExchange::Plan& plan,
                  const Call& call) {
    if (call.operation == Operation::alltoall) {
      protocol.alltoall(ctx, call.count, call.in_place, plan);
    } else {
      protocol.allgather(ctx, call.incoming, call.count, call.in_place, plan);
    }
  }
};

template <>
struct Registration<node::RootedExchange::Plan>
    : InTwoSizes<node::RootedExchange, &node::RootedExchange::Plan::round_bytes,
                 &TeamResources::Small::rooted_exchange, &TeamResources::rooted_exchange> {
  static constexpr std::string_view name = "slots";

  static std::size_t piece_size(const node::RootedExchange::Plan& plan) { return plan.round_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const node::RootedExchange::Plan& plan) {
    return method_of(plan.method, plan.round_bytes);
  }

  static node::RootedExchange protocol(const node::RootedExchange::Plan& plan,
                                       const ProtocolInputs& at) {
    return {parameters(plan, at), context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::RootedExchange& protocol, Ctx& ctx, const node::RootedExchange::Plan& plan,
                  const Call& call) {
    if (call.operation == Operation::gather) {
      protocol.gather(ctx, call.incoming, call.count, call.root, call.in_place, plan);
    } else {
      protocol.scatter(ctx, call.outgoing, call.incoming.of(call.root), call.count, call.root,
                       call.in_place, plan);
    }
  }
};

template <>
struct Registration<node::DoublingExchange::Plan>
    : InTwoSizes<node::DoublingExchange, &node::DoublingExchange::Plan::all_bytes,
                 &TeamResources::Small::doubling_exchange, &TeamResources::doubling_exchange> {
  static constexpr std::string_view name = "doubling";

  static std::optional<memory::CopyMethod> copy_method(const node::DoublingExchange::Plan& plan) {
    return method_of(plan.method, plan.all_bytes / 2);
  }

  static node::DoublingExchange protocol(const node::DoublingExchange::Plan& plan,
                                         const ProtocolInputs& at) {
    return {parameters(plan, at), at.rank, at.ranks(), context::first_sequence};
  }
  template <context::Context Ctx>
  static void run(node::DoublingExchange& protocol, Ctx& ctx,
                  const node::DoublingExchange::Plan& plan, const Call& call) {
    protocol.allgather(ctx, call.incoming, call.in_place, plan);
  }
};

template <>
struct Registration<node::PairExchange::Plan> {
  static constexpr std::string_view name = "pairwise";

  static std::size_t piece_size(const node::PairExchange::Plan& plan) { return plan.tile_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const node::PairExchange::Plan& plan) {
    return method_of(plan.method, plan.tile_bytes);
  }

  static const node::PairExchange::Parameters& parameters(const node::PairExchange::Plan& plan,
                                                          const ProtocolInputs& at) {
    const auto& small = at.resources.small.pair_exchange;
    return plan.tile_bytes <= small.tile_bytes ? small : at.resources.pair_exchange;
  }
  static std::size_t capacity(const node::PairExchange::Plan& plan, const ProtocolInputs& at) {
    return parameters(plan, at).tile_bytes;
  }
  static node::PairExchange protocol(const node::PairExchange::Plan& plan,
                                     const ProtocolInputs& at) {
    return {parameters(plan, at), at.ranks(), context::first_sequence};
  }
  // An exchange in place requires that the two ranks of a pair exchange their blocks in the same
  // turn.
  template <context::SingleCopyContext Ctx>
  static void run(node::PairExchange& protocol, Ctx& ctx, const node::PairExchange::Plan& plan,
                  const Call& call) {
    node::PairExchange::Plan of_call = plan;
    using Order = node::PairExchange::Order;
    if (call.in_place && plan.order == Order::staggered) of_call.order = Order::paired;
    protocol.run(ctx, call.outgoing, call.incoming, call.in_place, of_call);
  }
};

template <>
struct Registration<AnnouncedPlan> {
  static constexpr std::string_view name = "announced";

  static std::size_t piece_size(const AnnouncedPlan& plan) { return plan.pairs.tile_bytes; }
  static std::optional<memory::CopyMethod> copy_method(const AnnouncedPlan& plan) {
    return plan.pairs.method;
  }

  static std::size_t capacity(const AnnouncedPlan& plan, const ProtocolInputs& at) {
    return Registration<node::PairExchange::Plan>::capacity(plan.pairs, at);
  }
  static node::PairExchange protocol(const AnnouncedPlan& plan, const ProtocolInputs& at) {
    return Registration<node::PairExchange::Plan>::protocol(plan.pairs, at);
  }
  template <context::SingleCopyContext Ctx>
  static void run(node::PairExchange& protocol, Ctx& ctx, const AnnouncedPlan& plan,
                  const Call& call) {
    Registration<node::PairExchange::Plan>::run(protocol, ctx, plan.pairs, call);
  }
};

template <>
struct Registration<DirectExchangePlan> {
  static constexpr std::string_view name = "direct";

  static node::DirectExchange protocol(const DirectExchangePlan&, const ProtocolInputs& at) {
    return {at.resources.direct_exchange, at.ranks(), context::first_sequence};
  }
  template <context::SingleCopyContext Ctx>
  static void run(node::DirectExchange& protocol, Ctx& ctx, const DirectExchangePlan& plan,
                  const Call& call) {
    switch (call.operation) {
      case Operation::bcast:
        return protocol.bcast(ctx, call.count, call.root, plan.exchange);
      case Operation::allgather:
      case Operation::allgatherv:
        return protocol.allgather(ctx, call.incoming, call.in_place);
      case Operation::scatter:
        return protocol.scatter(ctx, call.outgoing, call.incoming.of(call.root), call.root,
                                call.in_place, plan.exchange);
      case Operation::alltoall:
        if (call.in_place) return protocol.swap(ctx, call.incoming);
        return protocol.exchange(ctx, call.outgoing, call.incoming, false);
      case Operation::gather:
        return protocol.exchange(ctx, call.outgoing, call.incoming, call.in_place);
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
  }
};

template <>
struct Registration<PushedPlan> {
  static constexpr std::string_view name = "pushed";

  static node::DirectExchange protocol(const PushedPlan& plan, const ProtocolInputs& at) {
    return Registration<DirectExchangePlan>::protocol({plan.writers, plan.path}, at);
  }
  template <context::SingleCopyContext Ctx>
  static void run(node::DirectExchange& protocol, Ctx& ctx, const PushedPlan& plan,
                  const Call& call) {
    protocol.gather(ctx, call.outgoing.of(call.root), call.incoming, call.root, call.in_place,
                    plan.writers);
  }
};

template <>
struct Registration<DirectReducePlan> {
  static constexpr std::string_view name = "direct";

  static std::size_t piece_size(const DirectReducePlan& plan) { return plan.reduction.block_bytes; }

  static node::DirectReduce protocol(const DirectReducePlan&, const ProtocolInputs& at) {
    return {at.resources.direct_reduce, at.reduction_order, context::first_sequence};
  }
  template <context::SingleCopyContext Ctx>
  static void run(node::DirectReduce& protocol, Ctx& ctx, const DirectReducePlan& plan,
                  const Call& call) {
    run_reduction(protocol, ctx, plan.reduction, call);
  }
};

}  // namespace huddle::select
