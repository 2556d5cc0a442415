// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

using machine::CostModel;
using machine::HandoffCurve;
using machine::HandoffKind;
using machine::Machine;
using memory::CopyKernel;

Machine two_cores() {
  return generic_machine(machine::discover_from_synthetic("pack:1 l3:1 core:2 pu:1").topology);
}

void set_ring(Machine& machine, memory::CopyMethod method, const machine::Curve& curve) {
  const HandoffKind kind = curves_of(method).ring;
  std::erase_if(machine.handoff,
                [kind](const HandoffCurve& handoff) { return handoff.kind == kind; });
  machine.handoff.push_back({machine.line.front().level, kind, curve, machine::Origin::measured});
}

TEST(CopyMethodChoice, EveryCopyMethodHasItsOwnCurve) {
  std::set<HandoffKind> kinds;
  for (memory::CopyMethod method : memory::to_one_reader) kinds.insert(curves_of(method).ring);
  EXPECT_EQ(kinds.size(), memory::to_one_reader.size());
}

// Each of two kernels is chosen where its curve is lower; only the curves decide.
TEST(CopyMethodChoice, FollowsTheCurves) {
  if (!memory::is_native(CopyKernel::nontemporal)) GTEST_SKIP() << "this processor has one kernel";
  Machine machine = two_cores();
  machine.handoff.clear();
  set_ring(machine, CopyKernel::plain, {{1000, 100000}, {100, 10000}, {}});
  set_ring(machine, CopyKernel::rep_movsb, {{1000, 100000}, {300, 9000}, {}});
  set_ring(machine, CopyKernel::nontemporal, {{1000, 100000}, {600, 5000}, {}});
  const CostModel model(machine);
  EXPECT_EQ(copy_method_for(model, 1000, 0, 1, memory::to_one_reader), CopyKernel::plain);
  EXPECT_EQ(copy_method_for(model, 100000, 0, 1, memory::to_one_reader), CopyKernel::nontemporal);
  for (int size = 64; size < 1'000'000; size *= 2) {
    const double bytes = size;
    const double best_ns =
        ring_ns(model, copy_method_for(model, bytes, 0, 1, memory::to_one_reader), bytes, 0, 1);
    for (memory::CopyMethod method : memory::to_one_reader) {
      EXPECT_LE(best_ns, ring_ns(model, method, bytes, 0, 1)) << bytes;
    }
  }
}

// Taking ownership is not chosen even if it is cheap, because other ranks read the same lines.
TEST(CopyMethodChoice, DoesNotTakeOwnershipOfSharedLines) {
  Machine machine = two_cores();
  machine.handoff.clear();
  set_ring(machine, CopyKernel::plain, {{1000}, {100}, {}});
  set_ring(machine, memory::by_reader_ownership, {{1000}, {50}, {}});
  const CostModel model(machine);
  EXPECT_EQ(copy_method_for(model, 1000, 0, 1, memory::to_one_reader), memory::by_reader_ownership);
  EXPECT_EQ(copy_method_for(model, 1000, 0, 1, memory::to_many_readers), CopyKernel::plain);
}

TEST(CopyMethodChoice, IsPlainWithoutCurves) {
  Machine machine = two_cores();
  machine.handoff.clear();
  const CostModel model(machine);
  EXPECT_EQ(copy_method_for(model, 1e6, 0, 1, memory::to_one_reader), CopyKernel::plain);
  EXPECT_TRUE(std::isinf(ring_ns(model, CopyKernel::plain, 1e6, 0, 1)));
}

// A machine file from before these curves were measured contains two kernels only.
TEST(CopyMethodChoice, IgnoresKernelsWithoutCurve) {
  Machine machine = two_cores();
  machine.handoff.clear();
  set_ring(machine, CopyKernel::plain, {{1000}, {100}, {}});
  EXPECT_EQ(copy_method_for(CostModel(machine), 1e6, 0, 1, memory::to_one_reader),
            CopyKernel::plain);
}

void set_handoff(Machine& machine, HandoffKind kind, const machine::Curve& curve) {
  machine.handoff.push_back({machine.line.front().level, kind, curve, machine::Origin::measured});
}

// Reads and writes follow their own curves.
TEST(CopyMethodChoice, SelectsKernelBySizeForCopiesWithoutPlan) {
  if (!memory::is_native(CopyKernel::interleaved)) GTEST_SKIP() << "this processor has one kernel";
  Machine machine = two_cores();
  machine.handoff.clear();
  set_handoff(machine, HandoffKind::read_dirty, {{4096, 1 << 20}, {400, 80000}, {}});
  set_handoff(machine, HandoffKind::read_interleaved, {{4096, 1 << 20}, {500, 50000}, {}});
  set_handoff(machine, HandoffKind::write_cached, {{4096, 1 << 20}, {400, 80000}, {}});
  set_handoff(machine, HandoffKind::write_interleaved, {{4096, 1 << 20}, {300, 90000}, {}});
  const CostModel model(machine);
  const auto reads = kernels_of_reads(model, 0, 1);
  EXPECT_EQ(reads.of(4096), CopyKernel::plain);
  EXPECT_EQ(reads.of(1 << 20), CopyKernel::interleaved);
  const auto writes = kernels_of_writes(model, 0, 1);
  EXPECT_EQ(writes.of(4096), CopyKernel::interleaved);
  EXPECT_EQ(writes.of(1 << 20), CopyKernel::plain);
}

TEST(CopyMethodChoice, IsPlainForCopiesWithoutPlanAndCurves) {
  Machine machine = two_cores();
  machine.handoff.clear();
  const CostModel model(machine);
  EXPECT_EQ(kernels_of_reads(model, 0, 1).of(1 << 20), CopyKernel::plain);
  EXPECT_EQ(kernels_of_writes(model, 0, 1).of(1 << 20), CopyKernel::plain);
}

// Without calibration no non-temporal stores are used, because it is unknown whether they pay off.
TEST(CopyMethodChoice, IsPlainOnUncalibratedMachine) {
  const Machine machine = two_cores();
  const CostModel model(machine);
  EXPECT_EQ(copy_method_for(model, 256, 0, 1, memory::to_one_reader), CopyKernel::plain);
  EXPECT_EQ(copy_method_for(model, 1 << 20, 0, 1, memory::to_one_reader), CopyKernel::plain);
}

}  // namespace
}  // namespace huddle::select
