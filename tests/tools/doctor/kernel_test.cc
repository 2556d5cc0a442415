// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finding kernel_finding(const FakeSystem& fake, std::string_view id) {
  return named(check_kernel(fake.system()), id);
}

TEST(NumaBalancing, IsReportedEvenWithOneNode) {
  FakeSystem fake;
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").found, "not in this kernel");
  fake.file("/proc/sys/kernel/numa_balancing", "1\n").file("/sys/devices/system/node/node0/x", "");
  fake.file("/sys/devices/system/node/has_cpu", "0");
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").state, State::limited);
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").found, "on, although there is one NUMA node");
  fake.file("/sys/devices/system/node/node1/x", "");
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").state, State::limited);
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").found, "on, with 2 NUMA nodes");
  fake.file("/proc/sys/kernel/numa_balancing", "0\n");
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").found, "off");
  EXPECT_EQ(kernel_finding(fake, "numa-balancing").state, State::works);
}

TEST(PerformanceEvents, AreAvailableToUsersUpToTwo) {
  FakeSystem fake;
  EXPECT_EQ(kernel_finding(fake, "perf").state, State::limited);
  EXPECT_EQ(kernel_finding(fake, "perf").command, "");
  fake.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(kernel_finding(fake, "perf").state, State::works);
  fake.file("/proc/sys/kernel/perf_event_paranoid", "3\n");
  EXPECT_EQ(kernel_finding(fake, "perf").state, State::limited);
  EXPECT_EQ(kernel_finding(fake, "perf").command, "sysctl kernel.perf_event_paranoid=2");
}

TEST(Governor, PowersaveDependsOnDriver) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cpufreq/";
  FakeSystem fake;
  EXPECT_EQ(kernel_finding(fake, "governor").state, State::works);
  fake.file(folder + "scaling_governor", "powersave\n")
      .file(folder + "scaling_driver", "intel_pstate\n");
  EXPECT_EQ(kernel_finding(fake, "governor").state, State::works);
  fake.file(folder + "scaling_driver", "acpi-cpufreq\n");
  EXPECT_EQ(kernel_finding(fake, "governor").state, State::limited);
  EXPECT_EQ(kernel_finding(fake, "governor").found, "powersave (acpi-cpufreq)");
  fake.file(folder + "scaling_governor", "performance\n");
  EXPECT_EQ(kernel_finding(fake, "governor").state, State::works);
}

TEST(Scheduler, ReportsCacheAwareScheduling) {
  FakeSystem fake;
  fake.file("/proc/sys/kernel/osrelease", "6.18.44\n");
  EXPECT_EQ(kernel_finding(fake, "scheduler").found, "Linux 6.18.44");
  fake.file("/proc/sys/kernel/osrelease", "7.2.0-rc1\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found, HasSubstr("only root can see"));
  fake.file("/proc/sys/kernel/osrelease", "7.10.3\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found, HasSubstr("only root can see"));
  fake.file("/sys/kernel/debug/sched/llc_balancing/enabled", "1\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found, HasSubstr("is on"));
  fake.file("/sys/kernel/debug/sched/llc_balancing/enabled", "N\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found, HasSubstr("is off"));
}

TEST(Scheduler, ReportsIsolatedCpus) {
  FakeSystem fake;
  fake.file("/sys/devices/system/cpu/isolated", "\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found, Not(HasSubstr("isolated")));
  fake.file("/sys/devices/system/cpu/isolated", "2-3\n");
  EXPECT_THAT(kernel_finding(fake, "scheduler").found,
              HasSubstr("hardware threads 2-3 are isolated"));
}

}  // namespace
}  // namespace huddle::doctor
