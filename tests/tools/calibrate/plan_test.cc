// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "../../common/scratch.h"
#include "common/error.h"
#include "model/machine/topology.h"
#include "tools/calibrate/cores_and_sizes.h"

namespace huddle::calibrate {
namespace {

using machine::CpuSet;
using machine::discover_from_synthetic;
using machine::Topology;
using testing::Contains;
using testing::HasSubstr;

constexpr std::uint64_t plenty = std::uint64_t{256} << 30;

const std::vector<std::string> machines = {
    "core:1 pu:1",
    "core:2 pu:1",
    "l3:1 core:2 pu:2",
    "pack:1 l3:12 core:8 pu:1",
    "pack:2 numa:4 l3:2 core:4 pu:1",
    "pack:2 l3:4 core:8 pu:2",
    "pack:8 core:8 pu:1",
    "pack:2 numa:4 l3:2 core:8 pu:2",
};

Plan plan_of(const std::string& description, bool quick = false) {
  const Topology topology = discover_from_synthetic(description).topology;
  return make_plan(topology, {topology.pus, quick, plenty});
}

const Step* find_step(const Plan& plan, StepKind kind) {
  const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                  [kind](const Step& step) { return step.kind == kind; });
  return found == plan.steps.end() ? nullptr : &*found;
}

// 60 s on 2 cores, 300 s on 64, 5 s for a quick run, each including start-up and writing.
TEST(Plan, RespectsTimeLimits) {
  EXPECT_LE(plan_of("core:2 pu:1").limit_seconds(), 50);
  EXPECT_LE(plan_of("pack:2 numa:4 l3:2 core:4 pu:1").limit_seconds(), 260);
  for (const std::string& machine : machines) {
    const Plan full = plan_of(machine);
    EXPECT_LE(full.limit_seconds(), time_limit_seconds(full.pus.size(), false) + 1e-6) << machine;
    EXPECT_LE(full.limit_seconds(), 260) << machine;
    EXPECT_LE(plan_of(machine, true).limit_seconds(), 4) << machine;
  }
}

TEST(Plan, EveryStepHasLimitAndEveryMeasurementHasShare) {
  for (const std::string& machine : machines) {
    for (const Step& step : plan_of(machine).steps) {
      EXPECT_GT(step.limit_seconds, 0) << step.name;
      EXPECT_FALSE(step.name.empty());
      EXPECT_FALSE(step.seconds.empty()) << step.name;
      for (const double seconds : step.seconds) EXPECT_GT(seconds, 0) << step.name;
    }
  }
}

TEST(Plan, MeasuresEverySharedLevel) {
  const Topology topology = discover_from_synthetic("pack:2 numa:4 l3:2 core:4 pu:2").topology;
  const Plan plan = make_plan(topology, {topology.pus, false, plenty});
  std::set<std::string> lines;
  std::set<std::string> copies;
  std::set<std::string> handoffs;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::line_level) lines.insert(step.level);
    if (step.kind == StepKind::copy) copies.insert(step.level);
    if (step.kind == StepKind::handoff) handoffs.insert(step.level);
  }
  const auto joining = joining_levels(topology);
  EXPECT_EQ(lines, std::set<std::string>(joining.begin(), joining.end()));
  EXPECT_EQ(copies, lines);  // "core" is the level of the single copier
  lines.erase("core");
  EXPECT_EQ(handoffs, lines);
}

TEST(Plan, ScansPairsAboveThirtyTwoCores) {
  const Plan small = plan_of("pack:1 core:32 pu:1");
  EXPECT_EQ(find_step(small, StepKind::line_pairs)->pairs.size(), 32U * 31 / 2);
  EXPECT_GE(find_step(small, StepKind::line_pairs)->extent.least, 32U);
  EXPECT_EQ(find_step(small, StepKind::line_clusters), nullptr);

  const Plan large = plan_of("pack:2 core:32 pu:1");
  EXPECT_EQ(find_step(large, StepKind::line_pairs)->pairs.size(), 64U * 63 / 2);
  EXPECT_NE(find_step(large, StepKind::line_clusters), nullptr);
  // A quick run uses the levels instead of the matrix.
  EXPECT_EQ(find_step(plan_of("pack:2 core:32 pu:1", true), StepKind::line_pairs), nullptr);
}

TEST(Plan, LeavesOutStepsForSeveralCores) {
  const Plan plan = plan_of("core:1 pu:1");
  for (const StepKind kind :
       {StepKind::line_pairs, StepKind::line_level, StepKind::flags, StepKind::handoff}) {
    EXPECT_EQ(find_step(plan, kind), nullptr);
  }
  EXPECT_NE(find_step(plan, StepKind::copy), nullptr);
  EXPECT_NE(find_step(plan, StepKind::system), nullptr);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("only one core")));
}

TEST(Plan, MeasuresAllowedHardwareThreadsOnly) {
  const Topology topology = discover_from_synthetic("pack:2 core:4 pu:1").topology;
  const Plan plan = make_plan(topology, {CpuSet({1, 2, 6}), false, plenty});
  EXPECT_THAT(plan.notes, Contains(HasSubstr("hardware threads 0,3-5,7 are not available")));
  const Plan all_but_one = make_plan(topology, {CpuSet({0, 1, 2, 3, 4, 5, 6}), false, plenty});
  EXPECT_THAT(all_but_one.notes, Contains(HasSubstr("hardware thread 7 is not available")));
  const std::set<int> allowed = {1, 2, 6};
  for (const Step& step : plan.steps) {
    for (const int pu : step.pus) EXPECT_TRUE(allowed.contains(pu)) << step.name;
    for (const auto& [a, b] : step.pairs) {
      EXPECT_TRUE(allowed.contains(a) && allowed.contains(b)) << step.name;
    }
  }
  EXPECT_THROW(make_plan(topology, {CpuSet({77}), false, plenty}), FailureError);
}

TEST(Plan, RespectsAvailableMemory) {
  const Topology topology = discover_from_synthetic("pack:2 l3:4 core:8 pu:1").topology;
  constexpr std::uint64_t little = std::uint64_t{1} << 30;
  for (const Step& step : make_plan(topology, {topology.pus, false, little}).steps) {
    if (step.kind != StepKind::copy) continue;
    EXPECT_LE(2 * step.sizes.back() * step.pus.size(), little / 2) << step.name;
  }
}

TEST(Plan, MeasuresNodesByDistance) {
  const Plan plan = plan_of("pack:2 numa:2 core:4 pu:1");
  std::vector<std::string> levels;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::memory) levels.push_back(step.level);
  }
  EXPECT_EQ(levels, (std::vector<std::string>{"numa", "package", "machine"}));
}

TEST(Plan, FindsOwnNodeOfSingleCore) {
  const Plan plan = plan_of("pack:4 numa:1 core:1 pu:1");
  const Step* first = find_step(plan, StepKind::memory);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->numa_node, first->pus.front());
  EXPECT_TRUE(first->home);  // the others are compared with it
  EXPECT_NE(first->level, "machine");
}

// A process and three buffers per copier: on 256 cores that would be 256 forks and 3 GB.
TEST(Plan, LimitsCopiersOfPaths) {
  const Topology topology = discover_from_synthetic("pack:8 core:32 pu:1").topology;
  constexpr std::uint64_t little = std::uint64_t{1} << 30;
  for (const Step& step : make_plan(topology, {topology.pus, false, little}).steps) {
    if (step.kind != StepKind::path) continue;
    EXPECT_LE(step.pus.size(), 64U);
    EXPECT_LE(3 * step.sizes.back() * step.pus.size(), little / 4) << step.name;
  }
  const Plan quick = make_plan(topology, {topology.pus, true, plenty});
  EXPECT_LE(quick.expected_seconds(), time_limit_seconds(256, true));
}

TEST(Plan, ReadsFromAnotherCoreIfPossible) {
  for (const std::string& machine : machines) {
    const Plan plan = plan_of(machine);
    for (const Step& step : plan.steps) {
      if (step.kind != StepKind::path) continue;
      EXPECT_EQ(step.pairs.size(), step.pus.size());
      for (const auto& [reader, peer] : step.pairs) EXPECT_EQ(reader == peer, plan.pus.size() == 1);
    }
  }
}

TEST(Plan, MeasuresPathAtEachOfSeveralLevels) {
  const auto levels_of = [](const Plan& plan) {
    std::vector<std::string> levels;
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::path && !step.level.empty()) levels.push_back(step.level);
    }
    return levels;
  };
  const Plan plan = plan_of("pack:2 l3:2 core:2 pu:1");
  EXPECT_THAT(levels_of(plan), testing::UnorderedElementsAre("l3", "package", "machine"));
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::path || step.level != "l3") continue;
    EXPECT_EQ(step.pairs.front().first / 2, step.pairs.front().second / 2);
  }
  EXPECT_THAT(levels_of(plan_of("core:2 pu:1")), testing::IsEmpty()) << "cores meet in one way";
  const Topology topology = discover_from_synthetic("pack:2 l3:2 core:2 pu:1").topology;
  EXPECT_THAT(levels_of(make_plan(topology, {topology.pus, true, plenty})), testing::IsEmpty());
}

TEST(Plan, AvoidsFirstHardwareThreadIfPossible) {
  const Plan plan = plan_of("pack:2 numa:2 core:4 pu:1");
  EXPECT_NE(find_step(plan, StepKind::copy)->pus.front(), 0);
  EXPECT_NE(find_step(plan, StepKind::memory)->pus.front(), 0);
  EXPECT_NE(find_step(plan, StepKind::system)->pus.front(), 0);
}

TEST(Plan, ChaseExceedsLargeCache) {
  Topology topology = discover_from_synthetic("l3:1 core:4 pu:1").topology;
  for (auto& level : topology.levels) {
    if (level.name == "l3") level.bytes.assign(level.groups.size(), std::uint64_t{504} << 20);
  }
  const Plan plan = make_plan(topology, {topology.pus, false, plenty});
  EXPECT_GE(find_step(plan, StepKind::memory)->sizes.front(), std::size_t{1008} << 20);
}

TEST(CopySizes, RiseFromCacheLineToMemory) {
  for (const std::string& machine : machines) {
    const Topology topology = discover_from_synthetic(machine).topology;
    const auto largest = memory_copy_bytes(topology, 1);
    const auto sizes = copy_sizes(topology, largest);
    EXPECT_GE(sizes.size(), 8U) << machine;
    EXPECT_LE(sizes.size(), 20U) << machine;
    EXPECT_EQ(sizes.front(), 64U);
    EXPECT_EQ(sizes.back(), largest);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      EXPECT_GT(sizes[i], sizes[i - 1]) << machine;
      EXPECT_LE(sizes[i], 4 * sizes[i - 1]) << machine;
    }
  }
}

// The omitted sizes leave no gap from one cache to beyond the next: 8M is kept.
TEST(ThinnedSizes, SkipNoCache) {
  const std::size_t kilo = 1 << 10;
  const std::size_t mega = 1 << 20;
  EXPECT_EQ(thinned_sizes({64, 512, 4 * kilo, 12 * kilo, 48 * kilo, 256 * kilo, mega, 8 * mega,
                           32 * mega, 64 * mega}),
            (std::vector<std::size_t>{64, 512, 4 * kilo, 48 * kilo, mega, 8 * mega, 32 * mega,
                                      64 * mega}));
  EXPECT_EQ(thinned_sizes({64}), std::vector<std::size_t>{64});
  for (const std::string& machine : machines) {
    const Topology topology = discover_from_synthetic(machine).topology;
    const auto sizes = thinned_sizes(copy_sizes(topology, memory_copy_bytes(topology, 1)));
    for (std::size_t i = 1; i < sizes.size(); ++i)
      EXPECT_LE(sizes[i], 24 * sizes[i - 1]) << machine;
  }
}

// A job with 4 GB on a node with 512 GB in an older batch system: cgroups of version 1.
TEST(UsableMemory, RespectsLimitOfCgroupVersion1) {
  const test::Scratch root;
  root.write("proc/meminfo", "MemAvailable:   536870912 kB\n");
  const System system(root.folder().string());
  EXPECT_EQ(usable_memory_bytes(system), std::uint64_t{512} << 30);
  root.write("proc/self/cgroup", "4:memory:/slurm/job_7\n");
  root.write("proc/self/mountinfo",
             "35 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  root.write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "4294967296\n");
  EXPECT_EQ(usable_memory_bytes(system), std::uint64_t{4} << 30);
}

TEST(UsableMemory, IsPlausibleOnThisMachine) {
  EXPECT_GT(usable_memory_bytes(), std::uint64_t{1} << 20);
  EXPECT_LT(usable_memory_bytes(), std::uint64_t{1} << 60);
}

}  // namespace
}  // namespace huddle::calibrate
