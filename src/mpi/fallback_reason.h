// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which way a collective goes: through huddle, or, for one of these reasons, to the MPI underneath.
// All ranks of the communicator take the same.
#pragma once

#include <cstddef>
#include <string_view>

namespace huddle::mpi {

enum class Route {
  huddle,          // huddle took it
  switched_off,    // HUDDLE=off
  one_rank,        // nobody to talk to
  between_groups,  // an intercommunicator
  several_worlds,  // processes that were spawned, and those that spawned them
  several_nodes,
  quicker_by_mpi,   // as is predicted, of several nodes
  without_huddle,   // ranks of this node that do not have it
  no_world,         // of several sessions, nobody can tell whose ranks these are
  unlike_settings,  // ranks with another huddle, or other settings
  too_young,        // the communicator has not made enough calls to pay for a team
  being_freed,      // a delete callback of one of its attributes makes the call
  no_team,          // it could not be made: no memory, no permission
  not_selected,     // HUDDLE_OPS
  no_reduction,     // of this type by this operator: the MPI has none either, or one of a kind
  too_large,        // elements, for every algorithm
  for_judgement,    // arguments that the MPI will have something to say about
  no_memory,        // for this algorithm
  device_memory,    // data of some rank lie where a host does not reach, or had better not
};

inline constexpr std::size_t route_count = static_cast<std::size_t>(Route::device_memory) + 1;

constexpr std::string_view words(Route passed) {
  switch (passed) {
    case Route::huddle:
      return "taken";
    case Route::switched_off:
      return "huddle is off";
    case Route::one_rank:
      return "one rank";
    case Route::between_groups:
      return "intercommunicator";
    case Route::several_worlds:
      return "spawned processes";
    case Route::several_nodes:
      return "several nodes";
    case Route::quicker_by_mpi:
      return "predicted quicker by the MPI";
    case Route::without_huddle:
      return "ranks without huddle";
    case Route::no_world:
      return "several sessions";
    case Route::unlike_settings:
      return "settings differ between ranks";
    case Route::too_young:
      return "before the communicator joined";
    case Route::being_freed:
      return "communicator being freed";
    case Route::no_team:
      return "no team could be made";
    case Route::not_selected:
      return "not selected";
    case Route::no_reduction:
      return "type or operator";
    case Route::too_large:
      return "elements too large";
    case Route::for_judgement:
      return "arguments for the MPI to judge";
    case Route::no_memory:
      return "no memory";
    case Route::device_memory:
      return "device memory";
  }
  return "";
}

}  // namespace huddle::mpi
