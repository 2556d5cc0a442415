// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

std::vector<Finding> with(std::string_view shared, std::string_view own) {
  FakeSystem fake;
  fake.file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", shared);
  fake.file("/sys/kernel/mm/transparent_hugepage/enabled", own);
  return check_huge_pages(fake.system());
}

TEST(HugePages, AreAvailableWithMadvise) {
  EXPECT_EQ(count(with("always within_size [advise] never deny force", "always [madvise] never"),
                  State::works),
            2);
}

TEST(HugePages, AreLimitedIfOff) {
  const auto findings =
      with("always within_size advise [never] deny force\n", "always madvise [never]\n");
  EXPECT_EQ(count(findings, State::limited), 2);
  EXPECT_EQ(named(findings, "thp-shmem").found, "shmem_enabled is 'never'");
  EXPECT_EQ(named(findings, "thp-shmem").command,
            "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled");
  EXPECT_THAT(named(findings, "thp-shmem").cost, ::testing::HasSubstr("HUDDLE_HEAP"));
  EXPECT_EQ(named(findings, "thp").command,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

TEST(HugePages, RequireKernelSupport) {
  const FakeSystem fake;
  const auto findings = check_huge_pages(fake.system());
  EXPECT_EQ(count(findings, State::limited), 2);
  EXPECT_EQ(named(findings, "thp-shmem").command, "");
}

}  // namespace
}  // namespace huddle::doctor
