// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace huddle::calibrate {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "huddle-root-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << '\n';
  }

  std::string root_;
};

TEST_F(FakeRoot, EmptyRootIsBareMetal) {
  const auto provenance = provenance_of_this_machine(root_);
  EXPECT_EQ(provenance.governor, "none");
  EXPECT_EQ(provenance.smt, "absent");
  EXPECT_EQ(provenance.numa_balancing, "absent");
  EXPECT_EQ(provenance.hypervisor, "");
}

TEST_F(FakeRoot, FilesAreUsedIfPresent) {
  put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  put("/sys/devices/system/cpu/smt/control", "forceoff");
  put("/proc/sys/kernel/numa_balancing", "1");
  put("/proc/cpuinfo", "processor : 0\nflags : fpu hypervisor lahf_lm");
  auto provenance = provenance_of_this_machine(root_);
  EXPECT_EQ(provenance.governor, "performance");
  EXPECT_EQ(provenance.smt, "off");
  EXPECT_EQ(provenance.numa_balancing, "on");
  EXPECT_EQ(provenance.hypervisor, "yes");
  put("/sys/class/dmi/id/sys_vendor", "QEMU");
  put("/sys/devices/system/cpu/smt/control", "notsupported");
  provenance = provenance_of_this_machine(root_);
  EXPECT_EQ(provenance.hypervisor, "QEMU");
  EXPECT_EQ(provenance.smt, "absent");
}

TEST(Provenance, ContainsToolKernelAndDateButNoHostName) {
  const auto provenance = provenance_of_this_machine();
  EXPECT_THAT(provenance.tool, testing::StartsWith("huddle "));
  EXPECT_THAT(provenance.kernel, testing::StartsWith("Linux "));
  EXPECT_EQ(provenance.date.size(), std::string("2026-11-20T10:00:00Z").size());
  EXPECT_EQ(provenance.date.back(), 'Z');
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  if (std::string(host).size() > 3) {
    EXPECT_THAT(provenance.kernel, testing::Not(testing::HasSubstr(host)));
  }
}

}  // namespace
}  // namespace huddle::calibrate
