// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

FakeSystem limits(std::string_view files, std::string_view locked,
                  std::string_view hard_files = "4096") {
  FakeSystem fake;
  fake.file("/proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max open files            " +
                std::string(files) + "   " + std::string(hard_files) +
                "   files     \n"
                "Max locked memory         " +
                std::string(locked) + "   unlimited   bytes     \n");
  return fake;
}

TEST(CheckLimits, HighLimitsWork) {
  const auto findings = check_limits(limits("1024", "8388608").system());
  EXPECT_EQ(count(findings, State::works), 2);
  EXPECT_EQ(named(findings, "nofile").found, "1024 per process");
  EXPECT_EQ(named(findings, "memlock").found, "8M per process; no network card here requires more");
}

TEST(CheckLimits, FewDescriptorsAreLimited) {
  const Finding finding = named(check_limits(limits("256", "unlimited").system()), "nofile");
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.command, "ulimit -n 4096");
}

TEST(CheckLimits, RemedyForDescriptorsIsPossible) {
  const auto finding = [](std::string_view soft, std::string_view hard) {
    return named(check_limits(limits(soft, "unlimited", hard).system()), "nofile");
  };
  EXPECT_EQ(finding("256", "2048").command, "ulimit -n 2048") << "no more than the hard limit";
  EXPECT_EQ(finding("256", "1048576").command, "ulimit -n 4096");
  EXPECT_EQ(finding("256", "unlimited").command, "ulimit -n 4096");
  EXPECT_EQ(finding("8", "8").command, "") << "a shell cannot raise its hard limit";
  EXPECT_THAT(finding("8", "8").remedy, ::testing::HasSubstr("nofile 4096"));
}

TEST(CheckLimits, NetworkCardRequiresLockedMemory) {
  FakeSystem tight = limits("1024", "8388608");
  tight.file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
  EXPECT_EQ(named(check_limits(tight.system()), "memlock").state, State::limited);

  FakeSystem wide = limits("1024", "unlimited");
  wide.file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
  EXPECT_EQ(named(check_limits(wide.system()), "memlock").state, State::works);
  EXPECT_EQ(named(check_limits(wide.system()), "memlock").found, "no limit");
}

TEST(CheckLimits, UnknownLimitsAreReported) {
  const FakeSystem fake;
  EXPECT_EQ(named(check_limits(fake.system()), "nofile").found, "unknown");
}

}  // namespace
}  // namespace huddle::doctor
