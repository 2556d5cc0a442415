// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

using machine::ArrayPlace;
using machine::Machine;
using machine::Origin;

// Four cores that read data written by a peer reading_is_faster times as fast as usual.
Machine machine_where(double reading_is_faster) {
  Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind != machine::HandoffKind::read_dirty) continue;
    for (double& ns : handoff.curve.ns) ns /= reading_is_faster;
  }
  return machine;
}

Machine with_heap_loads(Machine machine, double load_ns) {
  machine.arrays = {{ArrayPlace::program, 10, 5, 0.05, Origin::measured},
                    {ArrayPlace::heap, load_ns, 5, 0.05, Origin::measured}};
  return machine;
}

TEST(HeapGain, GrowsWithFasterPeerReads) {
  EXPECT_GT(heap_gain(machine_where(10)), heap_gain(machine_where(1)));
  EXPECT_GT(heap_gain(machine_where(10)), 1);
}

Machine core_alone() {
  return machine::generic_machine(machine::discover_from_synthetic("pack:1 core:1 pu:1").topology);
}

TEST(HeapGain, IsOneForASingleCore) { EXPECT_EQ(heap_gain(core_alone()), 1); }

TEST(HeapPays, IfItCostsNothing) {
  EXPECT_TRUE(heap_pays(with_heap_loads(machine_where(10), 10)));
  EXPECT_FALSE(heap_pays(with_heap_loads(machine_where(10), 16)));
}

TEST(HeapPays, NotWithoutGain) { EXPECT_FALSE(heap_pays(with_heap_loads(core_alone(), 10))); }

TEST(HeapPays, NotWithoutMeasurement) { EXPECT_FALSE(heap_pays(machine_where(10))); }

}  // namespace
}  // namespace huddle::select
