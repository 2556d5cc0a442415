// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/thread_masks.h"

#include <gmock/gmock.h>

#include "scene.h"

namespace huddle::threads {
namespace {

using machine::CpuSet;

TEST(Seats, GroupIsInnermostSharedObject) {
  const machine::Topology topology = machine_of("xeon-e7-8850-8s").topology;
  const CpuSet group = seat_mask(topology, topology.pus, 12, Binding::group);
  EXPECT_TRUE(group.contains(12));
  EXPECT_EQ(group.count(), 10);  // a socket
  EXPECT_EQ(seat_mask(topology, topology.pus, 12, Binding::core).text(), "12");
}

TEST(Seats, MaskContainsUsableHardwareThreadsOnly) {
  const machine::Topology topology = machine_of("xeon-e5620-2s").topology;
  EXPECT_EQ(seat_mask(topology, CpuSet({0, 1, 5}), 1, Binding::group).text(), "0-1");
  // Its own socket contains nothing else that is usable, but the next larger object does.
  EXPECT_EQ(seat_mask(topology, CpuSet({0, 1}), 0, Binding::core).text(), "0");
  EXPECT_EQ(seat_mask(topology, CpuSet({3}), 3, Binding::group).text(), "3");
}

TEST(Seats, CoreContainsAllItsHardwareThreads) {
  machine::Topology topology;
  topology.pus = CpuSet({0, 1, 2, 3});
  topology.levels = {{"core", {CpuSet({0, 2}), CpuSet({1, 3})}, {}}};
  EXPECT_EQ(cores_of(topology, CpuSet({2})).text(), "0,2");
  EXPECT_EQ(seat_mask(topology, topology.pus, 3, Binding::core).text(), "1,3");
}

}  // namespace
}  // namespace huddle::threads
