// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A complete calibration of the machine that runs the test, as short as possible.
#include "tools/calibrate/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "here.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/step_run.h"

namespace huddle::calibrate {
namespace {

using machine::Origin;

constexpr std::uint64_t little_memory = std::uint64_t{64} << 20;

// The minimum time for a few samples of each measurement.
Plan short_plan(const machine::Discovery& here) {
  Plan plan = make_plan(here.topology, {here.allowed, true, little_memory});
  for (Step& step : plan.steps) {
    step.extent.seconds = 0;
    step.extent.least = samples_in_any_case;
    step.limit_seconds = 60;
  }
  return plan;
}

class Recorder : public Watcher {
 public:
  void begin_step(const Plan&, std::size_t step) override { steps.push_back(step); }
  void advance(double share) override {
    ++advances;
    most = std::max(most, share);
    if (stop_after > 0 && advances == stop_after) stop.store(true);
  }
  std::vector<std::size_t> steps;
  int advances = 0;
  int stop_after = 0;
  double most = 0;
  std::atomic<bool> stop{false};
};

TEST(Calibrate, ReturnsValidMachine) {
  const machine::Discovery here = machine::discover_this_machine();
  const Plan plan = short_plan(here);
  Recorder recorder;
  const Outcome outcome = calibrate(here.topology, plan, recorder, recorder.stop);
  ASSERT_FALSE(outcome.stopped);
  const machine::Machine& machine = outcome.machine;
  EXPECT_NO_THROW(validate(machine));
  EXPECT_TRUE(calibrated(machine));
  EXPECT_EQ(machine.topology, here.topology);
  EXPECT_EQ(recorder.steps.size(), plan.steps.size());
  EXPECT_LE(recorder.most, 1);
  EXPECT_EQ(machine.system.size(), machine::system_call_names.size());
  EXPECT_EQ(machine.copy.front().copiers, 1);
  EXPECT_EQ(machine.copy.front().origin, Origin::measured);
  EXPECT_GT(outcome.measurements, 10);
  EXPECT_THAT(machine.provenance.method, testing::HasSubstr("quick calibration"));
  // The machine survives a round trip through the file format.
  EXPECT_EQ(machine::parse_machine(machine::format_machine(machine), "test"), machine);
}

Step memory_step() {
  Step step;
  step.kind = StepKind::memory;
  step.level = machine::whole_machine;
  step.pus = {cores_here().front()};
  step.sizes = {1 << 20};
  step.numa_node = memory::PageBuffer::where_touched;
  step.extent = few;
  step.seconds = {1};
  step.limit_seconds = 60;
  return step;
}

Findings carry_out(const Step& step, const machine::Topology& topology, double setup_seconds = 0) {
  Findings findings;
  findings.machine.topology = topology;
  MeasuringThreads crew(step.pus);
  const StepRun::Advance ignore = [](double) {};
  StepRun run(step, crew, never_stop, ignore);
  const Budget setup(setup_seconds, never_stop);
  while (!setup.spent()) continue;
  run.carry_out(findings);
  return findings;
}

MATCHER_P(DoubtsThat, why, "") {
  const auto doubts = arg.doubts.doubts();
  return std::any_of(doubts.begin(), doubts.end(), [&](const machine::Doubt& doubt) {
    return doubt.why.find(why) != std::string::npos;
  });
}

TEST(IsFuller, ConsidersFullRunAndHardwareThreads) {
  const machine::Discovery here = machine::discover_from_synthetic("pack:1 core:4 pu:1");
  const machine::CpuSet two = machine::CpuSet::parse("0-1");
  const Plan full = make_plan(here.topology, {here.allowed, false, little_memory});
  const Plan quick = make_plan(here.topology, {here.allowed, true, little_memory});
  const Plan narrow = make_plan(here.topology, {two, false, little_memory});
  machine::Machine machine = machine::generic_machine(here.topology);
  EXPECT_FALSE(contains_more(machine, quick)) << "nothing in it was measured";
  machine.line.front().origin = Origin::measured;
  machine.pairs = machine::LinePairs{{0, 1, 2, 3}, std::vector<double>(16, 50), "every pair"};
  machine.provenance.method = "full calibration: ...";
  EXPECT_TRUE(contains_more(machine, quick));
  EXPECT_TRUE(contains_more(machine, narrow));
  EXPECT_FALSE(contains_more(machine, full));
  machine.provenance.method = "quick calibration: ...";
  EXPECT_FALSE(contains_more(machine, quick));
}

// A chase of this size fits into the cache.
TEST(StepRun, DoubtsMemoryResultsThatMayBeFromCache) {
  auto topology = machine::discover_from_synthetic("l3:1 core:2 pu:1").topology;
  for (auto& level : topology.levels) {
    if (level.name == "l3") level.bytes.assign(1, std::uint64_t{1} << 20);
  }
  EXPECT_THAT(carry_out(memory_step(), topology), DoubtsThat("a cache"));
  Step beyond = memory_step();
  beyond.sizes = {2 << 20};
  EXPECT_THAT(carry_out(beyond, topology), testing::Not(DoubtsThat("a cache")));
}

// Without a result for the own node, the remote node must not be treated as the near one.
TEST(StepRun, KeepsGenericFactorWithoutOwnNode) {
  const auto topology = machine::discover_from_synthetic("pack:2 numa:1 core:2 pu:1").topology;
  Step far = memory_step();
  far.numa_node = 0;
  far.seconds = {1, 1};
  try {
    const Findings findings = carry_out(far, topology);
    ASSERT_EQ(findings.machine.memory.size(), 1U);
    EXPECT_EQ(findings.machine.memory.front().copy_factor,
              machine::generic_machine(topology).memory.back().copy_factor);
    EXPECT_GT(findings.machine.memory.front().copy_factor, 1);
    EXPECT_FALSE(findings.near_copy_ns);
    EXPECT_THAT(findings, DoubtsThat("estimated"));
  } catch (const FailureError& error) {
    GTEST_SKIP() << error.what();  // no NUMA placement on this machine
  }
}

TEST(StepRun, MeasuresOwnNodeForComparison) {
  const auto topology = machine::discover_from_synthetic("pack:2 numa:1 core:2 pu:1").topology;
  Step home = memory_step();
  home.numa_node = 0;
  home.home = true;
  home.seconds = {1, 1};
  try {
    EXPECT_TRUE(carry_out(home, topology).near_copy_ns);
  } catch (const FailureError& error) {
    GTEST_SKIP() << error.what();
  }
}

Step copy_alone_step(const std::vector<std::size_t>& sizes) {
  Step step;
  step.kind = StepKind::copy;
  step.name = "copy, 1 core alone";
  step.level = machine::whole_machine;
  step.pus = {cores_here().front()};
  step.sizes = sizes;
  step.extent = few;
  step.seconds.assign(sizes.size(), 1);
  step.limit_seconds = 60;
  return step;
}

TEST(StepRun, MeasuresLargeCopiesPastCaches) {
  Step step = copy_alone_step({4096, 16384, 65536});
  step.sizes_past_caches = {16384, 65536};
  step.seconds.assign(5, 1);
  const Findings findings = carry_out(step, machine::discover_this_machine().topology);
  ASSERT_EQ(findings.machine.copy.size(), 1U);
  EXPECT_EQ(findings.machine.copy.front().curve.bytes.size(), 3U);
  if (!is_native(memory::CopyKernel::nontemporal)) {
    EXPECT_TRUE(findings.machine.copy_past_caches.empty());
    return;
  }
  ASSERT_EQ(findings.machine.copy_past_caches.size(), 1U);
  EXPECT_EQ(findings.machine.copy_past_caches.front().curve.bytes,
            (std::vector<double>{16384, 65536}));
}

// As on a machine with other load: touching the buffers takes longer than the limit of the step.
TEST(StepRun, MeasuresAfterSetupExceededItsTime) {
  Step step = copy_alone_step({64, 4096});
  step.setup_seconds = 2;
  step.limit_seconds = 0.02;
  const Findings findings =
      carry_out(step, machine::discover_this_machine().topology, step.limit_seconds);
  ASSERT_EQ(findings.machine.copy.size(), 1U);
  EXPECT_EQ(findings.machine.copy.front().curve.bytes.front(), 64);
}

TEST(StepRun, MakesNoCurveOfSinglePoint) {
  const Findings findings =
      carry_out(copy_alone_step({64}), machine::discover_this_machine().topology);
  EXPECT_TRUE(findings.machine.copy.empty());
  EXPECT_THAT(findings, DoubtsThat("estimated"));
}

// Requests more memory than exists: the step of a single core fails, the others do not.
TEST(Calibrate, UsesGenericCopyIfSingleCoreStepFails) {
  const machine::Discovery here = machine::discover_this_machine();
  Plan plan = short_plan(here);
  const auto alone = std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.kind == StepKind::copy && step.pus.size() == 1;
  });
  ASSERT_NE(alone, plan.steps.end());
  alone->sizes.back() = std::size_t{1} << 60;
  Recorder recorder;
  const machine::Machine machine = calibrate(here.topology, plan, recorder, recorder.stop).machine;
  const machine::CopyCurve& copy = machine.copy.front();
  EXPECT_EQ(copy.copiers, 1);
  EXPECT_EQ(copy.origin, Origin::estimated);
  EXPECT_EQ(copy.curve, machine::generic_machine(here.topology).copy.front().curve);
  EXPECT_TRUE(
      std::any_of(machine.doubts.begin(), machine.doubts.end(),
                  [alone](const machine::Doubt& doubt) { return doubt.what == alone->name; }));
}

TEST(Calibrate, HasLineCostForEverySharedLevel) {
  HUDDLE_NEED_CORES(2);
  const machine::Discovery here = machine::discover_this_machine();
  Recorder recorder;
  const Outcome outcome = calibrate(here.topology, short_plan(here), recorder, recorder.stop);
  const auto levels = joining_levels(here.topology);
  ASSERT_EQ(outcome.machine.line.size(), levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(outcome.machine.line[i].level, levels[i]);
  }
  EXPECT_TRUE(std::any_of(outcome.machine.line.begin(), outcome.machine.line.end(),
                          [](const auto& line) { return line.origin == Origin::measured; }));
  ASSERT_TRUE(outcome.machine.pairs);
  EXPECT_THAT(outcome.machine.pairs->sampling,
              testing::AnyOf(testing::StartsWith("every pair"), testing::HasSubstr(" of ")));
}

TEST(Calibrate, EndsAfterCurrentMeasurementWhenStopped) {
  const machine::Discovery here = machine::discover_this_machine();
  Recorder recorder;
  recorder.stop_after = 2;
  const Outcome outcome = calibrate(here.topology, short_plan(here), recorder, recorder.stop);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_LT(recorder.steps.size(), short_plan(here).steps.size());
  EXPECT_TRUE(outcome.machine.line.empty());
}

}  // namespace
}  // namespace huddle::calibrate
