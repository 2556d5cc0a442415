// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where a thread that should sit on a processor may run.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::threads {

enum class Binding {
  group,  // on all processors of the innermost cache that cores share: the system still has a
          // choice
  core,   // on that core alone
};
inline constexpr std::array<std::string_view, 2> binding_names = {"group", "core"};

// A thread that has been chosen a processor, by its number.
struct Seat {
  int thread = 0;
  int processor = 0;
};

// What came of decisions that somebody carries out.
struct Standing {
  std::map<int, int> seats = {};  // by thread: the processor that it is bound for
  std::vector<int> alone = {};    // threads that are not ours to move
  machine::CpuSet allowed = {};   // processors that nobody else has claimed
};

// All processors of the cores that these belong to.
machine::CpuSet cores_of(const machine::Topology& topology, const machine::CpuSet& processors);

// Of these processors, for a thread that should sit on that one. pre: it is one of them.
machine::CpuSet seat_mask(const machine::Topology& topology, const machine::CpuSet& usable,
                          int processor, Binding binding);

}  // namespace huddle::threads
