// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/direct.h"

#include <gtest/gtest.h>

#include "machine/discover.h"
#include "machine/locate.h"

namespace huddle::select {
namespace {

// Predicted on four cores where it takes so long to write what a peer has cached.
double by_others_ns(const Request& request, double writing_is_slower) {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind != machine::HandoffKind::write_cached) continue;
    for (double& ns : handoff.curve.ns) ns *= writing_is_slower;
  }
  const machine::CostModel model(machine);
  const node::Seats seats =
      node::seats(machine.topology, machine::first_pu_of_cores(machine.topology));
  return direct_by_others_ns(Prices(model, seats), request, {});
}

// The root has used what it gathered before.
TEST(DirectByOthers, OfAPushedGatherTakesLinesFromTheRoot) {
  const Request gather{Operation::gather, 1 << 20, 1, true};
  EXPECT_GT(by_others_ns(gather, 100), 10 * by_others_ns(gather, 1));
}

// Who receives has sent from there before.
TEST(DirectByOthers, OfABroadcastTakesLinesFromItsReadersWhereTheRootHasMoved) {
  Request bcast{.operation = Operation::bcast, .bytes = 1 << 20, .mapped = true};
  EXPECT_EQ(by_others_ns(bcast, 100), by_others_ns(bcast, 1));
  bcast.root_moved = true;
  EXPECT_GT(by_others_ns(bcast, 100), 10 * by_others_ns(bcast, 1));
}

TEST(DirectByOthers, OfAScatterWritesWhereNobodyElseReads) {
  const Request scatter{Operation::scatter, 1 << 20, 1, true};
  EXPECT_EQ(by_others_ns(scatter, 100), by_others_ns(scatter, 1));
}

}  // namespace
}  // namespace huddle::select
