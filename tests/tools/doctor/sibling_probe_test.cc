// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs the probe for real, with two processes on this machine.
#include "tools/doctor/siblings.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "common/error.h"
#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::AnyOf;

// Afterwards other processes cannot access this one, as after a change of user without exec().
void drop_rights() {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0) {
    if (::setuid(nobody) != 0) ::_exit(1);
  } else {
    ::prctl(PR_SET_DUMPABLE, 0);
  }
}

void die() { ::_exit(1); }

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// If this machine refuses that, the other tests are meaningless.
TEST(SiblingProbe, PassesDescriptorBySocket) {
  EXPECT_EQ(probe_siblings().descriptor_by_socket, 0);
}

TEST(SiblingProbe, IsRefusedByProcessesThatDroppedPrivileges) {
  const SiblingResults results = probe_siblings({.prepare = drop_rights});
  // ENOSYS if a container or an emulator does not provide the call.
  EXPECT_THAT(results.memory_reads, testing::Each(AnyOf(EPERM, ENOSYS)));
  EXPECT_THAT(results.descriptor_by_pidfd, AnyOf(EPERM, ENOSYS));
  EXPECT_EQ(results.descriptor_by_proc, EACCES);
  EXPECT_EQ(results.descriptor_by_socket, 0) << "a socket asks nobody";
}

TEST(SiblingProbe, AllowingTracersRemovesNoAccess) {
  const SiblingResults plain = probe_siblings();
  const SiblingResults allowing = probe_siblings({.allow_tracers = true});
  ASSERT_EQ(plain.memory_reads.size(), allowing.memory_reads.size());
  for (std::size_t path = 0; path < plain.memory_reads.size(); ++path) {
    EXPECT_TRUE(plain.memory_read(path) != 0 || allowing.memory_read(path) == 0) << path;
  }
  EXPECT_TRUE(plain.descriptor_by_pidfd != 0 || allowing.descriptor_by_pidfd == 0);
}

TEST(SiblingProbe, ReportsMissingAnswer) {
  EXPECT_THROW(probe_siblings({.prepare = die}), FailureError);
}

TEST(SiblingProbe, LeaksNoDescriptors) {
  probe_siblings();
  const std::size_t before = open_descriptors();
  probe_siblings();
  EXPECT_THROW(probe_siblings({.prepare = die}), FailureError);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(CheckSiblings, HasOneFindingPerMethod) {
  const FakeSystem fake;
  const auto findings = check_siblings(fake.system());
  ASSERT_EQ(findings.size(), 5U);
  EXPECT_EQ(named(findings, "fd-socket").state, State::works);
  EXPECT_EQ(named(findings, "yama").found, "not in this kernel: no restriction");
}

}  // namespace
}  // namespace huddle::doctor
