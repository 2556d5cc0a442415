// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a plan in any context: creates its protocol, and calls the member function of the protocol
// that implements the operation. Used by the engine of a team and to simulate a plan.
#pragma once

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {

// The rank and the team for which a protocol is created.
struct Setting {
  const node::RankLocality& locality;
  const TeamResources& resources;
  const node::ReductionOrder& association;
  int rank = 0;

  int ranks() const { return locality.ranks(); }
};

inline auto protocol_for(const TreeBarrierPlan& plan, const Setting& at) {
  return node::TreeBarrier(node::tree(plan.shape, at.locality, 0), plan.parameters, at.rank,
                           context::first_sequence);
}
inline auto protocol_for(const DisseminationPlan& plan, const Setting& at) {
  return node::DisseminationBarrier(plan.parameters, at.rank, at.ranks(), context::first_sequence);
}
inline auto protocol_for(const InlineBcastPlan&, const Setting& at) {
  return node::InlineBcast(at.resources.inline_bcast, at.locality, at.rank,
                           context::first_sequence);
}
inline auto protocol_for(const node::PipelinedBcast::Plan&, const Setting& at) {
  return node::PipelinedBcast(at.resources.pipelined_bcast, at.locality, at.rank,
                              context::first_sequence);
}
inline auto protocol_for(const node::SegmentedBcast::Plan&, const Setting& at) {
  return node::SegmentedBcast(at.resources.segmented_bcast, at.locality, at.rank,
                              context::first_sequence);
}
inline auto protocol_for(const node::ExchangeReduce::Plan&, const Setting& at) {
  return node::ExchangeReduce(at.resources.exchange, at.association, context::first_sequence);
}
inline auto protocol_for(const node::TreeReduce::Plan&, const Setting& at) {
  return node::TreeReduce(at.resources.tree_reduce, at.association, context::first_sequence);
}
inline auto protocol_for(const node::SlicedReduce::Plan&, const Setting& at) {
  return node::SlicedReduce(at.resources.sliced_reduce, at.association, at.ranks(),
                            context::first_sequence);
}
inline auto protocol_for(const node::SlotExchange::Plan&, const Setting& at) {
  return node::SlotExchange(at.resources.slot_exchange, at.rank, at.ranks(),
                            context::first_sequence);
}
inline auto protocol_for(const node::DoublingExchange::Plan&, const Setting& at) {
  return node::DoublingExchange(at.resources.doubling_exchange, at.rank, at.ranks(),
                                context::first_sequence);
}
inline auto protocol_for(const node::PairExchange::Plan&, const Setting& at) {
  return node::PairExchange(at.resources.pair_exchange, at.ranks(), context::first_sequence);
}
inline auto protocol_for(const AnnouncedPlan& plan, const Setting& at) {
  return protocol_for(plan.pairs, at);
}
inline auto protocol_for(const DirectExchangePlan&, const Setting& at) {
  return node::DirectExchange(at.resources.direct_exchange, at.ranks(), context::first_sequence);
}
inline auto protocol_for(const PushedPlan& plan, const Setting& at) {
  return protocol_for(DirectExchangePlan{plan.writers, plan.path}, at);
}
inline auto protocol_for(const DirectReducePlan&, const Setting& at) {
  return node::DirectReduce(at.resources.direct_reduce, at.association, context::first_sequence);
}

// Each overload of run_plan() makes one call of the protocol for this rank.

template <context::Context W>
void run_plan(node::TreeBarrier& protocol, W& w, const TreeBarrierPlan&, const Call& call) {
  switch (call.barrier_phase) {
    case BarrierPhase::both:
      return protocol.run(w);
    case BarrierPhase::gather:
      return protocol.gather(w);
    case BarrierPhase::release:
      return protocol.release(w);
  }
}
template <context::Context W>
void run_plan(node::DisseminationBarrier& protocol, W& w, const DisseminationPlan&, const Call&) {
  protocol.run(w);
}
template <context::Context W>
void run_plan(node::InlineBcast& protocol, W& w, const InlineBcastPlan& plan, const Call& call) {
  protocol.run(w, call.count, call.root, plan.shape);
}
template <context::Context W>
void run_plan(node::PipelinedBcast& protocol, W& w, const node::PipelinedBcast::Plan& plan,
              const Call& call) {
  protocol.run(w, call.count, call.root, plan);
}
template <context::Context W>
void run_plan(node::SegmentedBcast& protocol, W& w, const node::SegmentedBcast::Plan& plan,
              const Call& call) {
  protocol.run(w, call.count, call.root, plan);
}

// Calls the protocol's member function for the reduction. Some protocols lack some reductions.
template <class Protocol, context::Context W, class PlanOfIt>
void run_reduction(Protocol& protocol, W& w, const PlanOfIt& plan, const Call& call) {
  const memory::Reduction& reduction = *call.reduction;
  if constexpr (requires { protocol.reduce(w, call.count, reduction, call.root, plan); }) {
    if (call.operation == Operation::reduce) {
      return protocol.reduce(w, call.count, reduction, call.root, plan);
    }
  }
  if constexpr (requires { protocol.reduce_scatter(w, call.incoming, reduction, plan); }) {
    if (reduces_to_blocks(call.operation)) {
      return protocol.reduce_scatter(w, call.incoming, reduction, plan);
    }
  }
  if constexpr (requires { protocol.scan(w, call.count, reduction, plan); }) {
    if (call.operation == Operation::scan) return protocol.scan(w, call.count, reduction, plan);
    if (call.operation == Operation::exscan) return protocol.exscan(w, call.count, reduction, plan);
  }
  protocol.allreduce(w, call.count, reduction, plan);
}
template <context::Context W>
void run_plan(node::ExchangeReduce& protocol, W& w, const node::ExchangeReduce::Plan& plan,
              const Call& call) {
  run_reduction(protocol, w, plan, call);
}
template <context::Context W>
void run_plan(node::TreeReduce& protocol, W& w, const node::TreeReduce::Plan& plan,
              const Call& call) {
  run_reduction(protocol, w, plan, call);
}
template <context::Context W>
void run_plan(node::SlicedReduce& protocol, W& w, const node::SlicedReduce::Plan& plan,
              const Call& call) {
  run_reduction(protocol, w, plan, call);
}
template <context::SingleCopyContext W>
void run_plan(node::DirectReduce& protocol, W& w, const DirectReducePlan& plan, const Call& call) {
  run_reduction(protocol, w, plan.reduction, call);
}

template <context::Context W>
void run_plan(node::SlotExchange& protocol, W& w, const node::SlotExchange::Plan& plan,
              const Call& call) {
  if (call.operation == Operation::alltoall) {
    protocol.alltoall(w, call.count, call.in_place, plan);
  } else {
    protocol.allgather(w, call.incoming, call.count, call.in_place, plan);
  }
}
template <context::Context W>
void run_plan(node::DoublingExchange& protocol, W& w, const node::DoublingExchange::Plan& plan,
              const Call& call) {
  protocol.allgather(w, call.incoming, call.in_place, plan);
}

// An exchange in place requires that both ranks of a pair turn to each other at the same time.
template <context::SingleCopyContext W>
void run_plan(node::PairExchange& protocol, W& w, const node::PairExchange::Plan& plan,
              const Call& call) {
  node::PairExchange::Plan of_call = plan;
  using Order = node::PairExchange::Order;
  if (call.in_place && plan.order == Order::staggered) of_call.order = Order::paired;
  protocol.run(w, call.outgoing, call.incoming, call.in_place, of_call);
}
template <context::SingleCopyContext W>
void run_plan(node::PairExchange& protocol, W& w, const AnnouncedPlan& plan, const Call& call) {
  run_plan(protocol, w, plan.pairs, call);
}

template <context::SingleCopyContext W>
void run_plan(node::DirectExchange& protocol, W& w, const DirectExchangePlan& plan,
              const Call& call) {
  switch (call.operation) {
    case Operation::bcast:
      return protocol.bcast(w, call.count, call.root, plan.exchange);
    case Operation::allgather:
    case Operation::allgatherv:
      return protocol.allgather(w, call.incoming, call.in_place);
    case Operation::scatter:
      return protocol.scatter(w, call.outgoing, call.incoming.of(call.root), call.root,
                              call.in_place, plan.exchange);
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
}
template <context::SingleCopyContext W>
void run_plan(node::DirectExchange& protocol, W& w, const PushedPlan& plan, const Call& call) {
  protocol.gather(w, call.outgoing.of(call.root), call.incoming, call.root, call.in_place,
                  plan.writers);
}

}  // namespace huddle::select
