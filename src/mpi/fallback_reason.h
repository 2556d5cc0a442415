// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The route of a collective: through huddle, or to the underlying MPI for one of these reasons. It
// is the same on all ranks of the communicator.
#pragma once

#include <cstddef>
#include <string_view>

namespace huddle::mpi {

enum class FallbackReason {
  none,          // handled by huddle
  switched_off,  // HUDDLE=off
  one_rank,      // nothing to communicate
  intercommunicator,
  spawned_processes,   // the processes were not all started together
  several_nodes,       // no team over several nodes, or it does not handle this operation
  faster_in_mpi,       // measured on one node, predicted over several
  compared,            // run by the MPI to compare its time with huddle's
  without_huddle,      // ranks of this node run without huddle
  several_sessions,    // several sessions are open, so the ranks cannot be identified
  fault_tolerance,     // the job goes on after failures of ranks (ULFM)
  different_settings,  // ranks with another version or other settings of huddle
  not_activated,       // too few calls on this communicator to repay the set-up
  being_freed,         // called by a delete callback of the communicator's attributes
  failed_set_up,       // the set-up failed: no memory, no permission
  not_selected,        // HUDDLE_OPS
  no_reduction,        // huddle does not have this operator for this type; the MPI may not either
  too_large,           // the elements exceed the limit of every algorithm
  invalid_arguments,   // arguments that the MPI will probably reject
  no_memory,           // for this algorithm
  device_memory,       // data of a rank are in memory that the host cannot or should not access
};

inline constexpr std::size_t fallback_reason_count =
    static_cast<std::size_t>(FallbackReason::device_memory) + 1;

constexpr std::string_view reason_text(FallbackReason reason) {
  switch (reason) {
    case FallbackReason::none:
      return "handled by huddle";
    case FallbackReason::switched_off:
      return "huddle is off";
    case FallbackReason::one_rank:
      return "single rank";
    case FallbackReason::intercommunicator:
      return "intercommunicator";
    case FallbackReason::spawned_processes:
      return "spawned processes";
    case FallbackReason::several_nodes:
      return "ranks on several nodes";
    case FallbackReason::faster_in_mpi:
      return "faster in the MPI";
    case FallbackReason::compared:
      return "timed for comparison";
    case FallbackReason::without_huddle:
      return "ranks without huddle";
    case FallbackReason::several_sessions:
      return "several MPI sessions";
    case FallbackReason::fault_tolerance:
      return "fault tolerance (ULFM)";
    case FallbackReason::different_settings:
      return "different settings on the ranks";
    case FallbackReason::not_activated:
      return "communicator not yet active";
    case FallbackReason::being_freed:
      return "communicator being freed";
    case FallbackReason::failed_set_up:
      return "failed team set-up";
    case FallbackReason::not_selected:
      return "operation excluded by --ops";
    case FallbackReason::no_reduction:
      return "unsupported datatype or operator";
    case FallbackReason::too_large:
      return "elements too large";
    case FallbackReason::invalid_arguments:
      return "possibly invalid arguments";
    case FallbackReason::no_memory:
      return "lack of memory";
    case FallbackReason::device_memory:
      return "device memory";
  }
  return "";
}

}  // namespace huddle::mpi
