// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::machine {
namespace {

const std::array<const char*, 5> descriptions = {
    "pack:2 numa:2 l3:2 core:4 pu:2", "pack:1 l3:3 core:4 pu:1", "core:2 pu:1",
    "pack:8 core:10 pu:2", "numa:2 pack:1 l3:1 l2:2 core:2 pu:1"};

Machine machine_of(const char* description) {
  return generic_machine(discover_from_synthetic(description).topology);
}

Machine any_machine() { return machine_of(*rc::gen::elementOf(descriptions)); }

int any_pu(const Machine& machine) { return *rc::gen::elementOf(machine.topology.pus.cpus()); }

Copy any_copy(const Machine& machine) {
  Copy copy;
  copy.bytes = *rc::gen::inRange(1, 1 << 30);
  copy.copier = any_pu(machine);
  copy.peer = any_pu(machine);
  copy.source = *rc::gen::element(Source::own_cache, Source::peer_wrote, Source::near_memory,
                                  Source::far_memory);
  copy.target = *rc::gen::element(Target::own_cache, Target::peer_cached, Target::memory);
  copy.others = *rc::gen::inRange(0, machine.topology.pus.count());
  return copy;
}

RC_GTEST_PROP(CostProperty, LineLatencyIsSymmetricAndGrowsOutward, ()) {
  const Machine machine = any_machine();
  const CostModel cost(machine);
  const int a = any_pu(machine);
  const int b = any_pu(machine);
  const int c = any_pu(machine);
  RC_ASSERT(cost.line_ns(a, b) == cost.line_ns(b, a));
  RC_ASSERT(cost.shared_line_ns(a, b) == cost.shared_line_ns(b, a));
  RC_ASSERT(cost.line_ns(a, a) == 0);
  const GroupIndex index(machine.topology);
  if (a != b && a != c && index.joining_level(a, b) <= index.joining_level(a, c)) {
    RC_ASSERT(cost.line_ns(a, b) <= cost.line_ns(a, c));
  }
}

RC_GTEST_PROP(CostProperty, AdditionalReaderNeverReducesTheTime, ()) {
  const Machine machine = any_machine();
  const CostModel cost(machine);
  const int from = any_pu(machine);
  std::vector<int> readers;
  double before_ns = 0;
  for (int i = 0; i < 6; ++i) {
    readers.push_back(any_pu(machine));
    const double ns = cost.line_to_readers_ns(from, readers);
    RC_ASSERT(ns >= before_ns - 1e-9);
    RC_ASSERT(ns >= cost.line_ns(from, readers.back()) - 1e-9);
    before_ns = ns;
  }
}

RC_GTEST_PROP(CostProperty, AdditionalWriterNeverReducesTheTime, ()) {
  const Machine machine = any_machine();
  const CostModel cost(machine);
  const int reader = any_pu(machine);
  const int per_line = *rc::gen::inRange(1, 9);
  std::vector<int> writers;
  double before_ns = 0;
  for (int i = 0; i < 10; ++i) {
    writers.push_back(any_pu(machine));
    const double ns = cost.flags_ns(writers, reader, per_line);
    RC_ASSERT(ns >= before_ns - 1e-9);
    before_ns = ns;
  }
}

RC_GTEST_PROP(CostProperty, TimeNeverFallsWithSize, ()) {
  const Machine machine = any_machine();
  const CostModel cost(machine);
  Copy copy = any_copy(machine);
  const double small_ns = cost.copy_ns(copy);
  const double small_path_ns = cost.path_ns("cma", copy.bytes, copy.others);
  const double small_ring_ns =
      cost.handoff_ns(copy.bytes, copy.copier, copy.peer, HandoffKind::ring);
  copy.bytes += *rc::gen::inRange(0, 1 << 28);
  RC_ASSERT(std::isfinite(small_ns) && small_ns > 0);
  RC_ASSERT(cost.copy_ns(copy) >= small_ns * (1 - 1e-12));
  RC_ASSERT(cost.path_ns("cma", copy.bytes, copy.others) >= small_path_ns * (1 - 1e-12));
  RC_ASSERT(cost.handoff_ns(copy.bytes, copy.copier, copy.peer, HandoffKind::ring) >=
            small_ring_ns * (1 - 1e-12));
}

RC_GTEST_PROP(CostProperty, TimeNeverFallsWithContention, ()) {
  const Machine machine = any_machine();
  const CostModel cost(machine);
  Copy copy = any_copy(machine);
  const double quiet_ns = cost.copy_ns(copy);
  const double quiet_path_ns = cost.path_ns("cma", copy.bytes, copy.others);
  copy.others += *rc::gen::inRange(0, 100);
  RC_ASSERT(cost.copy_ns(copy) >= quiet_ns * (1 - 1e-12));
  RC_ASSERT(cost.path_ns("cma", copy.bytes, copy.others) >= quiet_path_ns * (1 - 1e-12));
}

TEST(Cost, ScalesAPathByTheDistanceOfThePair) {
  Machine machine = machine_of("pack:2 l3:1 core:2 pu:1");
  const CostModel anywhere(machine);
  const double alone_ns = anywhere.path_ns("cma", 1e5, 0);
  const double crowd_ns = anywhere.path_ns("cma", 1e5, 3);
  EXPECT_DOUBLE_EQ(anywhere.path_ns("cma", 1e5, 3, 0, 2), crowd_ns) << "nobody has measured that";
  machine.paths.push_back({"cma", 1, {{1e5}, {3 * alone_ns}, {}}, Origin::measured, "machine"});
  machine.paths.push_back({"cma", 1, {{1e5}, {alone_ns / 2}, {}}, Origin::measured, "l3"});
  validate(machine);
  const CostModel cost(machine);
  EXPECT_DOUBLE_EQ(cost.path_ns("cma", 1e5, 3), crowd_ns) << "as without curves of levels";
  EXPECT_DOUBLE_EQ(cost.path_ns("cma", 1e5, 3, 0, 2), 3 * crowd_ns);
  EXPECT_DOUBLE_EQ(cost.path_ns("cma", 1e5, 3, 0, 1), crowd_ns / 2);
}

TEST(Cost, MeasuredPairsOverrideTheirLevel) {
  Machine machine = machine_of("pack:2 core:2 pu:1");
  machine.pairs = LinePairs{{0, 1, 2, 3},
                            {0, 40, 100, 110, 40, 0, 120, 130, 100, 120, 0, 50, 110, 130, 50, 0},
                            "every pair"};
  validate(machine);
  const CostModel cost(machine);
  EXPECT_EQ(cost.line_ns(0, 1), 40);
  EXPECT_EQ(cost.line_ns(3, 1), 130);
}

TEST(Cost, AThreadUsesTheMeasurementOfItsCore) {
  Machine machine = machine_of("core:2 pu:2");
  machine.pairs = LinePairs{{0, 2}, {0, 77, 77, 0}, "every pair"};
  const CostModel cost(machine);
  EXPECT_EQ(cost.line_ns(1, 3), 77);
  EXPECT_EQ(cost.line_ns(0, 1), machine.line.front().one_way_ns) << "inside the core";
}

TEST(Cost, ReadersAddStepsToTheLongestLatency) {
  Machine machine = machine_of("pack:2 core:2 pu:1");
  machine.line = {{"package", 50, 30, 10, 20, 0, Origin::estimated},
                  {"machine", 100, 60, 30, 40, 0, Origin::estimated}};
  const CostModel cost(machine);
  EXPECT_EQ(cost.line_to_readers_ns(0, std::array{1}), 50);
  EXPECT_EQ(cost.line_to_readers_ns(0, std::array{1, 2}), 110);
  EXPECT_EQ(cost.line_to_readers_ns(0, std::array{1, 2, 3}), 140);
  EXPECT_EQ(cost.line_to_readers_ns(0, std::array{0}), 0) << "the writer has its own line";
}

TEST(Cost, PackedFlagsQueueAndSpreadFlagsAreFetchedOneByOne) {
  Machine machine = machine_of("core:4 pu:1");
  machine.line = {{"machine", 50, 30, 10, 20, 0, Origin::estimated}};
  const CostModel cost(machine);
  const std::array writers = {1, 2, 3};
  EXPECT_EQ(cost.flags_ns(writers, 0, 1), 50 + 2 * 10);
  EXPECT_EQ(cost.flags_ns(writers, 0, 4), 50 + 2 * 20);
  EXPECT_EQ(cost.flags_ns(writers, 0, 2), 50 + 20 + 10);
}

TEST(Cost, StoresBeyondOutstandingMissesWait) {
  Machine machine = machine_of("pack:1 l3:3 core:4 pu:1");
  machine.outstanding_misses = {4, Origin::estimated};
  const CostModel cost(machine);
  const std::vector<int> few = {1, 2, 3, 4};
  EXPECT_EQ(cost.queued_stores_ns(0, few), 0);
  const std::vector<int> many = {4, 5, 6, 7, 8, 9, 10, 11};
  // Four of eight stores wait for others, and four are in flight at a time.
  EXPECT_DOUBLE_EQ(cost.queued_stores_ns(0, many), cost.shared_line_ns(0, 4));
}

TEST(Cost, LoadsBeyondOutstandingMissesWait) {
  Machine machine = machine_of("pack:1 l3:3 core:4 pu:1");
  for (LineCost& line : machine.line) line.reader_step_ns = 0;
  machine.outstanding_misses = {4, Origin::estimated};
  const CostModel cost(machine);
  EXPECT_DOUBLE_EQ(cost.load_step_ns(0, 4), cost.shared_line_ns(0, 4) / 4);
}

TEST(Cost, FarMemoryAppliesItsFactor) {
  const Machine machine = machine_of("pack:2 numa:2 l3:1 core:4 pu:1");
  const CostModel cost(machine);
  Copy copy{64 << 20, 0, 15, Source::near_memory, Target::own_cache, 0, whole_machine};
  const double near_ns = cost.copy_ns(copy);
  copy.source = Source::far_memory;
  EXPECT_NEAR(cost.copy_ns(copy), near_ns * 1.6, near_ns * 1e-4);
}

TEST(Cost, OrderOfWritersDoesNotMatter) {
  const Machine machine = machine_of("pack:2 l3:2 core:4 pu:1");
  const CostModel cost(machine);
  const double ns = cost.flags_ns(std::array{0, 1, 9, 5}, 0, 4);
  EXPECT_EQ(cost.flags_ns(std::array{9, 0, 5, 1}, 0, 4), ns);
  EXPECT_EQ(cost.flags_ns(std::array{9, 5, 1}, 0, 4), ns)
      << "the reader's own flag is there already";
  EXPECT_EQ(cost.flags_ns(std::array{0, 1}, 0, 1), cost.flags_ns(std::array{1, 0}, 0, 1));
}

TEST(Cost, CopyInMemoryMatchesTheMeasurement) {
  const Machine machine = machine_of("pack:1 core:2 pu:1");
  const CostModel cost(machine);
  const Copy copy{256 << 20, 0, 0, Source::near_memory, Target::memory, 0, whole_machine};
  const double measured_ns = machine.copy.front().curve.ns.back();
  EXPECT_NEAR(cost.copy_ns(copy), measured_ns, measured_ns * 1e-4);
}

TEST(Cost, NoCopyIsFasterThanOneLoadOrLine) {
  const Machine machine = machine_of("pack:2 core:2 pu:1");
  const CostModel cost(machine);
  EXPECT_GE(cost.copy_ns({64, 0, 0, Source::near_memory}), machine.memory.front().load_ns);
  EXPECT_GE(cost.copy_ns({64, 0, 2, Source::peer_wrote}), cost.line_ns(0, 2));
}

// A copy from lines that a peer wrote to lines that it has read: the transfers between the two add
// up, but both curves include the copier's own side.
TEST(Cost, TransfersFromAndToAPeerAddUp) {
  const auto copied_ns = [](double own_ns, double read_ns, double write_ns) {
    Machine machine = generic_machine(discover_from_synthetic("pack:1 l3:1 core:2 pu:1").topology);
    const auto flat = [](double ns) { return Curve{{4096}, {ns}, {}}; };
    machine.copy = {{"core", 1, flat(own_ns), Origin::measured}};
    machine.handoff = {{"l3", HandoffKind::read_dirty, flat(read_ns), Origin::measured},
                       {"l3", HandoffKind::write_cached, flat(write_ns), Origin::measured}};
    Copy copy{.bytes = 4096, .copier = 0, .peer = 1};
    copy.source = Source::peer_wrote;
    copy.target = Target::peer_cached;
    return CostModel(machine).copy_ns(copy);
  };
  EXPECT_NEAR(copied_ns(50, 1000, 700), 1700, 5);
  EXPECT_NEAR(copied_ns(1000, 1000, 1000), 1000, 5);
  EXPECT_GT(copied_ns(800, 1000, 1000), 1300);
  EXPECT_LT(copied_ns(800, 1000, 1000), 1700);
  EXPECT_GE(copied_ns(2000, 1000, 1500), 2000);
}

TEST(Cost, NonTemporalStoresMatchTheMeasurement) {
  Machine machine = machine_of("pack:1 l3:1 core:2 pu:1");
  machine.copy_past_caches = {{"core", 1, {{1e6, 1e8}, {7, 700}, {}}, Origin::measured}};
  const CostModel cost(machine);
  const Copy copy{1e7, 0, 0, Source::own_cache, Target::memory, 0, whole_machine};
  EXPECT_NEAR(cost.copy_ns(copy), 70, 1e-6);
  EXPECT_GT(cost.copy_ns({1e7, 0, 0}), 70);
}

// Arbitrary curves and numbers of copiers, as from a noisy calibration or a careless edit.
CopyCurve any_copy_curve(const std::string& level, int copiers) {
  CopyCurve copy{level, copiers, {}, Origin::estimated};
  double bytes = 0;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    bytes += *rc::gen::inRange(1, 1 << 22);
    copy.curve.bytes.push_back(bytes);
    copy.curve.ns.push_back(*rc::gen::inRange(1, 1 << 22));
  }
  return copy;
}

RC_GTEST_PROP(CostProperty, HoldsForArbitraryCurves, ()) {
  Machine machine = machine_of("pack:2 numa:2 l3:2 core:4 pu:2");
  machine.copy = {any_copy_curve("core", 1)};
  for (const char* level : {"l3", "machine"}) {
    for (const int copiers : {2, 5, 8}) {
      if (*rc::gen::arbitrary<bool>()) machine.copy.push_back(any_copy_curve(level, copiers));
    }
  }
  if (*rc::gen::arbitrary<bool>()) machine.copy_past_caches = machine.copy;
  validate(machine);
  const CostModel cost(machine);
  Copy copy = any_copy(machine);
  copy.others_share = *rc::gen::element<std::string_view>("l3", "machine");
  const double ns = cost.copy_ns(copy);
  Copy larger = copy;
  larger.bytes += *rc::gen::inRange(0, 1 << 24);
  RC_ASSERT(cost.copy_ns(larger) >= ns * (1 - 1e-12));
  copy.others += *rc::gen::inRange(0, 40);
  RC_ASSERT(cost.copy_ns(copy) >= ns * (1 - 1e-12));
}

TEST(Cost, ScalesAHandoffCurveToOuterLevels) {
  Machine machine = machine_of("pack:2 core:2 pu:1");
  machine.line = {{"package", 50, 30, 10, 20, 0, Origin::estimated},
                  {"machine", 100, 60, 30, 40, 0, Origin::estimated}};
  machine.handoff = {{"package", HandoffKind::ring, {{1000}, {500}, {}}, Origin::estimated}};
  const CostModel cost(machine);
  EXPECT_EQ(cost.handoff_ns(1000, 0, 1, HandoffKind::ring), 500);
  EXPECT_EQ(cost.handoff_ns(1000, 0, 2, HandoffKind::ring), 1000);
  EXPECT_TRUE(std::isinf(cost.handoff_ns(1000, 0, 2, HandoffKind::read_dirty)));
}

TEST(Cost, SendersShareTheCardsOfANode) {
  Machine machine = machine_of("core:4 pu:1");
  machine.networks = {{"test", 1, {{1, 1000}, {1000, 1999}, {}}, 5, 1.0, Origin::estimated}};
  const CostModel cost(machine);
  EXPECT_NEAR(cost.message_ns(1000, 0), 1999, 1);
  EXPECT_NEAR(cost.message_ns(1000, 3), 999 + 4000 + 15, 1);
  EXPECT_TRUE(std::isinf(CostModel(machine_of("core:4 pu:1")).message_ns(8, 0)));
}

}  // namespace
}  // namespace huddle::machine
