// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/algorithm.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

using machine::HandoffKind;

// Predicts an exchange by ranks on the hardware threads `locality` (of four), on a machine on which
// hand-offs of this kind take times_as_long times as long.
double exchange_by(const node::ExchangeReduce::Plan& plan, std::size_t bytes,
                   const std::vector<int>& locality, HandoffKind kind = HandoffKind::ring,
                   double times_as_long = 1) {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind != kind) continue;
    for (double& ns : handoff.curve.ns) ns *= times_as_long;
  }
  const machine::CostModel model(machine);
  const node::RankLocality at = node::locality(machine.topology, locality);
  return exchange_ns(Costs(model, at), {Operation::allreduce, bytes}, plan);
}

constexpr std::size_t bytes = 65536;
constexpr node::ExchangeReduce::Plan plain{bytes, memory::CopyKernel::plain};
constexpr node::ExchangeReduce::Plan nontemporal{bytes, memory::CopyKernel::nontemporal};

// The ring curves of the kernels contain the time to read non-temporal stores from memory.
TEST(ExchangeReduce, ReadsNontemporalStoresFromMemory) {
  const auto by = [](const node::ExchangeReduce::Plan& plan, double times_as_long) {
    return exchange_by(plan, bytes, {0, 1}, HandoffKind::ring_nontemporal, times_as_long);
  };
  EXPECT_GT(by(nontemporal, 100), 10 * by(nontemporal, 1));
  EXPECT_EQ(by(plain, 100), by(plain, 1));
}

TEST(ExchangeReduce, TakesTurnsIfRanksShareHardwareThreads) {
  EXPECT_GT(exchange_by(plain, bytes, {0, 1, 0, 1}), 1.5 * exchange_by(plain, bytes, {0, 1, 2, 3}));
}

// Two ranks on cores on which copies larger than a rank's slice take times_as_long times as long.
double slices_ns(std::size_t data_bytes, double times_as_long) {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  const double combined = static_cast<double>(data_bytes) / 2;
  for (machine::CopyCurve& copy : machine.copy) {
    copy.curve.bytes = {combined, 2 * combined};
    copy.curve.ns = {combined / 20, combined / 20 * 2 * times_as_long};
  }
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1});
  const node::SlicedReduce::Plan plan{65536, {}, node::SlicedReduce::Results::returned};
  return sliced_reduce_ns(Costs(model, locality), 2, data_bytes, plan,
                          node::ReductionTarget::Kind::to_each);
}

// Shared memory may be faster, but a rank still has to read its own data.
TEST(SlicedReduce, IsNoFasterThanItsMemory) {
  EXPECT_GT(slices_ns(8 << 20, 100), 10 * slices_ns(8 << 20, 1));
}

}  // namespace
}  // namespace huddle::select
