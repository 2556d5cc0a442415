// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

FakeSystem eight(std::string_view allowed) {
  FakeSystem fake;
  fake.file("/sys/devices/system/cpu/online", "0-7\n")
      .file("/proc/self/status", "Cpus_allowed_list:\t" + std::string(allowed) + "\n");
  return fake;
}

TEST(CheckProcessors, AllHardwareThreadsWork) {
  const Finding finding = named(check_processors(eight("0-7").system()), "affinity");
  EXPECT_EQ(finding.state, State::works);
  EXPECT_EQ(finding.found, "all 8 may be used (0-7)");
}

// Kernels also list CPUs as allowed that could be plugged in later.
TEST(CheckProcessors, OfflineCpusDoNotCount) {
  EXPECT_EQ(named(check_processors(eight("0-127").system()), "affinity").state, State::works);
}

TEST(CheckProcessors, AffinityMaskHasCommand) {
  const Finding finding = named(check_processors(eight("2-3").system()), "affinity");
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.found, "2 of 8 may be used (2-3 of 0-7)");
  EXPECT_EQ(finding.command, "taskset -apc 0-7 $$");
}

TEST(CheckProcessors, CpusetHasNoCommand) {
  FakeSystem fake = eight("0-3");
  fake.file("/proc/self/cgroup", "0::/\n")
      .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
  const Finding finding = named(check_processors(fake.system()), "affinity");
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.command, "");
  EXPECT_THAT(finding.remedy, HasSubstr("batch system"));
}

TEST(CheckProcessors, UnknownMasksAreReported) {
  const FakeSystem empty;
  EXPECT_THAT(named(check_processors(empty.system()), "affinity").found, HasSubstr("unknown"));
  EXPECT_THAT(named(check_processors(eight("damaged").system()), "affinity").found,
              HasSubstr("unknown"));
}

}  // namespace
}  // namespace huddle::doctor
