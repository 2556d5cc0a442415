// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/conditions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "../../common/fake_system.h"

namespace huddle::calibrate {
namespace {

constexpr const char* at_first =
    "cpu  400 0 100 9000 0 0 0 0 0 0\n"
    "cpu0 100 0 50 4000 0 0 0 0 0 0\n"
    "cpu1 100 0 50 4000 0 0 0 0 0 0\n"
    "cpu2 200 0 0 1000 0 0 0 0 0 0\n"
    "intr 12345 0\n";

TEST(OtherWork, IsLoadCountedByTheKernel) {
  FakeSystem machine;
  machine.file("/proc/stat", at_first);
  const std::vector<int> pus = {0, 1};
  const auto found = other_work(machine.system(), pus, [&machine] {
    // One tick in 30 is noise; cpu 1 ran 15 ticks of user code and lost 9 to its host.
    machine.file("/proc/stat",
                 "cpu0 100 0 51 4029 0 0 0 0 0 0\n"
                 "cpu1 115 0 50 4004 2 0 0 9 15 0\n"
                 "cpu2 230 0 0 1000 0 0 0 0 0 0\n");
  });
  ASSERT_EQ(found.size(), 1U) << "cpu 2 is not to be measured";
  EXPECT_EQ(found.front().pu, 1);
  EXPECT_DOUBLE_EQ(found.front().share, 24.0 / 30.0);
}

TEST(OtherWork, IsEmptyWithoutKernelCounters) {
  FakeSystem machine;
  const std::vector<int> pus = {0, 1};
  EXPECT_TRUE(other_work(machine.system(), pus, [] {}).empty());
  machine.file("/proc/stat", at_first);
  EXPECT_TRUE(other_work(machine.system(), pus, [] {}).empty()) << "no time has passed";
}

TEST(CpuTimes, DistinguishesUsedFromStolenTime) {
  FakeSystem machine;
  EXPECT_FALSE(cpu_times(machine.system()));
  machine.file("/proc/stat",
               "cpu  400 100 300 9000 50 20 30 700 400 0\n"
               "cpu0 200 50 150 4500 25 10 15 350 200 0\n"
               "cpu1 200 50 150 4500 25 10 15 350 200 0\n");
  const auto times = cpu_times(machine.system());
  ASSERT_TRUE(times);
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(times->used_seconds, 850 / ticks_per_s);
  EXPECT_DOUBLE_EQ(times->stolen_seconds, 700 / ticks_per_s);
  EXPECT_EQ(times->pus, 2);
}

}  // namespace
}  // namespace huddle::calibrate
