// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

Finding host_finding(const FakeSystem& fake, std::string_view id) {
  return named(check_host(fake.system(), false), id);
}

TEST(Host, IsBareMetalByDefault) {
  FakeSystem fake;
  fake.file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").state, State::works);
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "bare metal");
}

TEST(Host, DetectsHypervisorByFlag) {
  FakeSystem fake;
  fake.file("/proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").state, State::limited);
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "virtual (a hypervisor)");
  EXPECT_EQ(host_finding(fake, "hypervisor").command, "huddle calibrate");
}

TEST(Host, CalibratedVirtualMachineWorks) {
  FakeSystem fake;
  fake.file("/proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n");
  const Finding finding = named(check_host(fake.system(), true), "hypervisor");
  EXPECT_EQ(finding.state, State::works);
  EXPECT_THAT(finding.found, ::testing::HasSubstr("virtual (a hypervisor)"));
  EXPECT_EQ(finding.command, "");
}

TEST(Host, DetectsHypervisorByVendor) {
  FakeSystem fake;
  fake.file("/sys/class/dmi/id/sys_vendor", "QEMU\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "virtual (QEMU)");
  fake.file("/sys/hypervisor/type", "xen\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "virtual (xen)");
}

TEST(Host, DetectsBareMetalOfCloudVendor) {
  FakeSystem fake;
  fake.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "bare metal");
  fake.file("/proc/cpuinfo", "flags : hypervisor\n");
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "virtual (Amazon EC2)");
}

TEST(Host, ReportsContainer) {
  FakeSystem fake;
  fake.file("/.dockerenv", "");
  EXPECT_EQ(host_finding(fake, "hypervisor").found, "bare metal, in a container (Docker)");
  EXPECT_EQ(host_finding(fake, "hypervisor").state, State::works);
}

TEST(Steal, IsFractionOfAllTime) {
  FakeSystem fake;
  EXPECT_EQ(host_finding(fake, "steal").found, "unknown");
  fake.file("/proc/stat", "cpu  100 0 100 700 0 0 50 50 7 0\ncpu0 1 1 1 1 1 1 1 99 0 0\n");
  EXPECT_EQ(host_finding(fake, "steal").state, State::limited);
  EXPECT_EQ(host_finding(fake, "steal").found, "5.0 % since boot");
  fake.file("/proc/stat", "cpu  100 0 100 795 0 0 0 5 0 0\n");
  EXPECT_EQ(host_finding(fake, "steal").state, State::works);
}

}  // namespace
}  // namespace huddle::doctor
