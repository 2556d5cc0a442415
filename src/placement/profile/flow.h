// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What one rank of the world sent to another.
#pragma once

#include <cstdint>

namespace huddle::profile {

enum class FlowKind : std::int32_t {
  point_to_point,
  one_sided,
  collective,  // logical: what the operation means, and not what the MPI sends for it
};

// To processes that are no ranks of this world: spawned ones, other programs.
inline constexpr std::int32_t outside_world = -1;

// Ranks are those of the world, whatever communicator the program named them in.
struct Flow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t phase = 0;  // as MPI_Pcontrol numbered it
  FlowKind kind = FlowKind::point_to_point;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;

  bool operator==(const Flow&) const = default;
};

// What MPI calls the default level of detail: where a program is that never called MPI_Pcontrol.
inline constexpr std::int32_t first_phase = 1;

}  // namespace huddle::profile
