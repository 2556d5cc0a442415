// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Contexts and networks for tests of teams on several nodes.
#pragma once

#include <cstddef>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "runtime/internode/prediction.h"
#include "runtime/team/team_context.h"

namespace huddle::internode::test {

inline team::ContextOptions small_options(std::size_t cap_bytes = std::size_t{64} << 20) {
  team::ContextOptions options;
  options.machine =
      machine::generic_machine(machine::discover_from_synthetic("pack:1 core:2 pu:1").topology);
  options.arena.cap_bytes = cap_bytes;
  return options;
}

// Networks that favour few rounds, or few bytes.
inline constexpr Network dear_messages = {50'000'000, 1, 1};
inline constexpr Network dear_bytes = {1, 1'000'000'000, 1};
inline constexpr Network in_pieces = {1, 1'000'000'000, 0, 10, 300};

}  // namespace huddle::internode::test
