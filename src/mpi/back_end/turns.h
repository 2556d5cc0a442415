// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The turns of a call in the trials of its team's tuner: which implementation runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpi/back_end/call.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/call_log.h"
#include "runtime/select/operation.h"
#include "runtime/team/tuner.h"

namespace huddle::mpi {

// Returns the number of blocks that the common size of a call contains.
template <CollectiveCall Call>
std::size_t blocks_in_size(const Communicator& communicator) {
  constexpr bool is_of_all_blocks = Call::operation == select::Operation::allgatherv ||
                                    Call::operation == select::Operation::alltoall;
  return is_of_all_blocks ? static_cast<std::size_t>(communicator.ranks) : 1;
}

// Returns the size that selects the algorithm: of one block if the operation moves a block per
// rank. Returns 0 if the ranks do not all know the size.
template <CollectiveCall Call>
std::size_t requested_bytes(const Communicator& communicator, const Call& call) {
  return call.common_bytes(communicator).value_or(0) / blocks_in_size<Call>(communicator);
}

// Returns whether the MPI's result of the call has the same bits as huddle's, although the MPI may
// reduce in another order.
template <CollectiveCall Call>
bool has_same_result_in_mpi(const Process& process, const Communicator& communicator,
                            const Call& call) {
  if constexpr (Reduction<Call>) {
    const auto kernel = kernel_of(process.operators(), *call.facts, call.op);
    if (!kernel) return false;
    const bool is_sum_of_two = communicator.ranks == 2 && kernel->op == memory::Operator::sum;
    return memory::is_exact(kernel->type) ||
           (is_sum_of_two && memory::has_commutative_sum(kernel->type));
  }
  return true;
}

template <CollectiveCall Call>
bool is_at_root(const Communicator& communicator, const Call& call) {
  if constexpr (Rooted<Call>) return call.root == communicator.rank;
  return false;
}

template <CollectiveCall Call>
bool may_run_in_mpi(const Process& process, Communicator& communicator, const Call& call) {
  if (process.options().verify) return false;
  if (process.options().may_reorder) return true;
  if constexpr (Reduction<Call>) {
    if (const auto known = communicator.latest.has_same_result(call.type, call.op)) return *known;
    const bool is_same = has_same_result_in_mpi(process, communicator, call);
    if (kernel_of(process.operators(), *call.facts, call.op))
      communicator.latest.note_result(call.type, call.op, is_same);
    return is_same;
  }
  return true;
}

// The turn of a call that is not tuned.
inline constexpr team::Turn by_prediction;

template <CollectiveCall Call>
team::TunedCall tuned_call(const Process& process, Communicator& communicator, const Call& call,
                           std::optional<std::size_t> bytes) {
  return {Call::operation, bytes.value_or(0), may_run_in_mpi(process, communicator, call),
          blocks_in_size<Call>(communicator)};
}

// Begins a turn of the team's tuner. Calls that move no data are not tuned.
template <CollectiveCall Call>
const team::Turn& turn_of(Process& process, Communicator& communicator, const Call& call) {
  if (!process.options().tunes || communicator.team == nullptr) return by_prediction;
  const std::optional<std::size_t> bytes = call.common_bytes(communicator);
  if (MovesData<Call> && bytes == 0) return by_prediction;
  const team::Turn& turn =
      communicator.team->begin_turn(tuned_call(process, communicator, call, bytes));
  if (process.options().is_timed()) {
    if (const auto result = communicator.team->take_tuning_result()) process.stats().tried(*result);
  }
  return turn;
}

template <CollectiveCall Call>
void end_turn(Communicator& communicator, const Call& call, const team::Turn& turn,
              const TimedCall& when) {
  if (!turn.is_timed || communicator.team == nullptr) return;
  communicator.team->end_turn(turn, {when.enter_ns, when.leave_ns, call.bytes(communicator),
                                     is_at_root(communicator, call)});
}

// Returns the reason why the MPI runs a call whose turn is outside the team.
template <CollectiveCall Call>
FallbackReason run_outside(Communicator& communicator, const Call& call, std::size_t bytes,
                           const team::Turn& turn) {
  team::CallArguments arguments{.operation = Call::operation, .bytes = bytes};
  if constexpr (Rooted<Call>) arguments.root = call.root;
  communicator.team->note_outside_call(arguments);
  return turn.is_in_trial ? FallbackReason::compared : FallbackReason::faster_in_mpi;
}

}  // namespace huddle::mpi
