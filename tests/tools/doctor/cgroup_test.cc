// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view mount_2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

// Version 2, with the process in /job/step, 8 hardware threads and 64 GB.
FakeSystem version_2() {
  FakeSystem fake;
  fake.file("/proc/self/cgroup", "0::/job/step\n")
      .file("/proc/self/mountinfo", mount_2)
      .file("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
      .file("/proc/meminfo", "MemTotal:       67108864 kB\n");
  return fake;
}

TEST(CgroupLimits, AreEmptyWithoutCgroups) {
  const FakeSystem fake;
  const CgroupLimits limits = read_cgroup_limits(fake.system());
  EXPECT_FALSE(limits.found);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
}

TEST(CgroupLimits, MaxIsNoLimit) {
  FakeSystem fake = version_2();
  fake.file("/sys/fs/cgroup/job/step/memory.max", "max\n")
      .file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n")
      .file("/sys/fs/cgroup/job/step/pids.max", "max\n");
  const CgroupLimits limits = read_cgroup_limits(fake.system());
  EXPECT_TRUE(limits.found);
  EXPECT_EQ(limits.memory_bytes, std::nullopt);
  EXPECT_EQ(limits.processors, std::nullopt);
  EXPECT_EQ(limits.tasks, std::nullopt);
}

TEST(CgroupLimits, AreTightestOfAllAncestors) {
  FakeSystem fake = version_2();
  fake.file("/sys/fs/cgroup/job/step/memory.max", "8589934592\n")
      .file("/sys/fs/cgroup/job/memory.max", "4294967296\n")
      .file("/sys/fs/cgroup/job/step/cpu.max", "250000 100000\n")
      .file("/sys/fs/cgroup/job/cpu.max", "800000 100000\n")
      .file("/sys/fs/cgroup/pids.max", "512\n")
      .file("/sys/fs/cgroup/job/step/cpuset.cpus.effective", "0-3\n")
      .file("/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
  const CgroupLimits limits = read_cgroup_limits(fake.system());
  EXPECT_EQ(limits.memory_bytes, 4294967296.0);
  EXPECT_EQ(limits.processors, 2.5);
  EXPECT_EQ(limits.tasks, 512);
  EXPECT_EQ(limits.cpuset, "0-3");
}

TEST(CgroupLimits, AreReadFromVersion1) {
  FakeSystem fake;
  fake.file("/proc/self/cgroup", "7:pids:/u\n4:memory:/u\n3:cpuset:/u\n2:cpu,cpuacct:/u\n0::/\n")
      .file("/proc/self/mountinfo",
            "35 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            "34 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
            "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
            "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/memory/u/memory.limit_in_bytes", "1073741824\n")
      .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/u/cpu.cfs_quota_us", "-1\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/u/cpu.cfs_period_us", "100000\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n")
      .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .file("/sys/fs/cgroup/pids/u/pids.max", "99\n")
      .file("/sys/fs/cgroup/cpuset/u/cpuset.effective_cpus", "4-7\n");
  const CgroupLimits limits = read_cgroup_limits(fake.system());
  EXPECT_EQ(limits.memory_bytes, 1073741824.0);
  EXPECT_EQ(limits.processors, 4);
  EXPECT_EQ(limits.tasks, 99);
  EXPECT_EQ(limits.cpuset, "4-7");
}

TEST(CgroupLimits, AreReadIfContainerSeesPartOfTree) {
  FakeSystem fake;
  fake.file("/proc/self/cgroup", "0::/docker/abc/inner\n")
      .file("/proc/self/mountinfo",
            "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/inner/memory.max", "2048\n");
  EXPECT_EQ(read_cgroup_limits(fake.system()).memory_bytes, 2048.0);
}

TEST(CheckCgroup, WorksWithoutLimits) {
  const auto findings = check_cgroup(version_2().system());
  EXPECT_EQ(count(findings, State::works), 3);
  EXPECT_EQ(named(findings, "cgroup-memory").found, "all of the machine's 64G");
}

TEST(CheckCgroup, SufficientMemoryWorks) {
  FakeSystem fake = version_2();
  fake.file("/sys/fs/cgroup/job/memory.max", "17179869184\n");
  const Finding finding = named(check_cgroup(fake.system()), "cgroup-memory");
  EXPECT_EQ(finding.state, State::works);
  EXPECT_EQ(finding.found, "16G of 64G (cgroup)");
}

TEST(CheckCgroup, ReportsTightLimits) {
  FakeSystem fake = version_2();
  fake.file("/sys/fs/cgroup/job/memory.max", "1073741824\n")
      .file("/sys/fs/cgroup/job/cpu.max", "250000 100000\n")
      .file("/sys/fs/cgroup/job/pids.max", "20\n");
  const auto findings = check_cgroup(fake.system());
  EXPECT_EQ(count(findings, State::limited), 3);
  EXPECT_EQ(named(findings, "cgroup-cpu").found, "the time of 2.5 of 8 hardware threads (cgroup)");
  EXPECT_THAT(named(findings, "cgroup-cpu").remedy, HasSubstr("at most 2 ranks"));
}

}  // namespace
}  // namespace huddle::doctor
