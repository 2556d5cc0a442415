// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Options, arenas and checks for several tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/arithmetic.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/memory/arena.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team_context.h"

namespace huddle::team {

// Returns options for a machine of this hwloc description, with the generic figures.
inline ContextOptions generic_options(const std::string& description, std::size_t cap_bytes) {
  ContextOptions options;
  options.machine =
      machine::generic_machine(machine::discover_from_synthetic(description).topology);
  options.arena.cap_bytes = cap_bytes;
  return options;
}

inline ContextOptions two_core_options(std::size_t cap_bytes = 64 * MiB) {
  return generic_options("pack:1 l3:1 core:2 pu:1", cap_bytes);
}

inline std::shared_ptr<memory::Arena> new_arena(
    memory::ArenaFile::Kind kind = memory::ArenaFile::Kind::memfd_first) {
  return std::make_shared<memory::Arena>(
      memory::ArenaOptions{.cap_bytes = 1024 * MiB, .kind = kind});
}

inline void barrier(const Bootstrap& bootstrap) { gather(bootstrap, char{}); }

inline void expect_fine(const std::vector<RankEnd>& ends) {
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, RankEnd::How::fine) << end;
}

}  // namespace huddle::team
