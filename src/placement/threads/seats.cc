// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/seats.h"

#include <algorithm>

namespace huddle::threads {

using machine::CpuSet;
using machine::Topology;

CpuSet cores_of(const Topology& topology, const CpuSet& processors) {
  CpuSet all = processors;
  const machine::Level* const cores = find_level(topology, "core");
  if (cores == nullptr) return all;
  for (const CpuSet& core : cores->groups) {
    if (core.intersects(processors)) all = united(all, core);
  }
  return all;
}

// One thread a processor is what was decided on, so that a group has room for all that it gets.
CpuSet seat_mask(const Topology& topology, const CpuSet& usable, int processor, Binding binding) {
  const CpuSet core = common(cores_of(topology, CpuSet({processor})), usable);
  switch (binding) {
    case Binding::core:
      return core;
    case Binding::group:
      break;
  }
  for (const machine::Level& level : topology.levels) {
    const auto group = std::find_if(level.groups.begin(), level.groups.end(),
                                    [&](const CpuSet& one) { return one.contains(processor); });
    if (group == level.groups.end()) continue;
    const CpuSet part = common(*group, usable);
    if (!core.contains(part)) return part;
  }
  return core;
}

}  // namespace huddle::threads
