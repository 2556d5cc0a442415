// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Why a collective went to the MPI underneath. Every reason is one that all ranks of the
// communicator have together.
#pragma once

#include <cstddef>
#include <string_view>

namespace huddle::mpi {

enum class Passed {
  not_passed,      // huddle took it
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
  no_team,          // it could not be made: no memory, no permission
  not_selected,     // HUDDLE_OPS
  no_reduction,     // of this type by this operator: the MPI has none either, or one of a kind
  too_large,        // elements, for every algorithm
  for_judgement,    // arguments that the MPI will have something to say about
  no_memory,        // for this algorithm
  device_memory,    // data of some rank lie where a host does not reach, or had better not
};

inline constexpr std::size_t passed_count = static_cast<std::size_t>(Passed::device_memory) + 1;

constexpr std::string_view words(Passed passed) {
  switch (passed) {
    case Passed::not_passed:
      return "taken";
    case Passed::switched_off:
      return "huddle is off";
    case Passed::one_rank:
      return "one rank";
    case Passed::between_groups:
      return "intercommunicator";
    case Passed::several_worlds:
      return "spawned processes";
    case Passed::several_nodes:
      return "several nodes";
    case Passed::quicker_by_mpi:
      return "predicted quicker by the MPI";
    case Passed::without_huddle:
      return "ranks without huddle";
    case Passed::no_world:
      return "several sessions";
    case Passed::unlike_settings:
      return "settings differ between ranks";
    case Passed::too_young:
      return "before the communicator joined";
    case Passed::no_team:
      return "no team could be made";
    case Passed::not_selected:
      return "not selected";
    case Passed::no_reduction:
      return "type or operator";
    case Passed::too_large:
      return "elements too large";
    case Passed::for_judgement:
      return "arguments for the MPI to judge";
    case Passed::no_memory:
      return "no memory";
    case Passed::device_memory:
      return "device memory";
  }
  return "";
}

}  // namespace huddle::mpi
