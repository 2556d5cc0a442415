// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/siblings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_system.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

SiblingResults all(int error) { return {error, error, error, {error}}; }

TEST(JudgeSiblings, AllSuccessesWork) {
  for (const Finding& finding : judge_siblings({})) {
    EXPECT_EQ(finding.state, State::works) << finding.id;
    EXPECT_EQ(finding.remedy, "") << finding.id;
  }
}

TEST(JudgeSiblings, SuccessWithPermissionWorks) {
  const auto findings = judge_siblings({.plain = all(EPERM), .yama = 1});
  EXPECT_EQ(count(findings, State::works), 5);
  EXPECT_THAT(named(findings, "cma").found, HasSubstr("PR_SET_PTRACER"));
  EXPECT_THAT(named(findings, "yama").found, HasSubstr("1: "));
}

TEST(JudgeSiblings, RefusedMemoryIsLimited) {
  const SiblingResults refused{.memory_reads = {EPERM}};
  const Finding cma = named(judge_siblings({.plain = refused, .allowing = refused}), "cma");
  EXPECT_EQ(cma.state, State::limited);
  EXPECT_EQ(cma.found, "process_vm_readv refused: Operation not permitted");
  EXPECT_THAT(cma.cost, HasSubstr("copied twice"));
  EXPECT_THAT(cma.remedy, HasSubstr("SYS_PTRACE"));
}

TEST(JudgeSiblings, MissingCallHasAnotherRemedy) {
  const SiblingResults missing{.memory_reads = {ENOSYS}};
  const Finding cma = named(judge_siblings({.plain = missing, .allowing = missing}), "cma");
  EXPECT_THAT(cma.remedy, HasSubstr("CONFIG_CROSS_MEMORY_ATTACH"));
}

TEST(JudgeSiblings, RemedyFollowsErrno) {
  EXPECT_THAT(setup_remedy(EMFILE), HasSubstr("ulimit -n"));
  EXPECT_THAT(setup_remedy(ENFILE), HasSubstr("fs.file-max"));
  EXPECT_THAT(setup_remedy(EAGAIN), HasSubstr("ulimit -u"));
  const auto findings = judge_siblings({.plain = all(EMFILE), .allowing = all(EMFILE)});
  EXPECT_EQ(named(findings, "fd-pidfd").remedy, setup_remedy(EMFILE));
}

TEST(JudgeSiblings, OneMethodForDescriptorsIsSufficient) {
  SiblingResults refused = all(EPERM);
  refused.descriptor_by_socket = 0;
  const auto findings = judge_siblings({.plain = refused, .allowing = refused});
  EXPECT_EQ(named(findings, "fd-socket").state, State::works);
  EXPECT_EQ(named(findings, "fd-proc").state, State::limited);
  EXPECT_EQ(named(findings, "fd-pidfd").state, State::limited);
}

TEST(JudgeSiblings, NoMethodForDescriptorsFails) {
  const auto findings = judge_siblings({.plain = all(EPERM), .allowing = all(EPERM)});
  EXPECT_EQ(named(findings, "fd-socket").state, State::fails);
  EXPECT_EQ(named(findings, "fd-proc").state, State::fails);
  EXPECT_EQ(named(findings, "fd-pidfd").state, State::fails);
}

TEST(JudgeSiblings, YamaIsLimitedOnlyIfItIsTheReason) {
  const SiblingFacts strict{.plain = all(EPERM), .allowing = all(EPERM), .yama = 2};
  EXPECT_EQ(named(judge_siblings(strict), "yama").state, State::limited);
  EXPECT_EQ(named(judge_siblings(strict), "yama").command, "sysctl kernel.yama.ptrace_scope=1");

  SiblingFacts locked = strict;
  locked.yama = 3;
  EXPECT_THAT(named(judge_siblings(locked), "yama").remedy, HasSubstr("reboot"));
  EXPECT_EQ(named(judge_siblings(locked), "yama").command, "");

  SiblingFacts other = strict;
  other.yama = 0;  // another restriction applies, for example a seccomp filter
  EXPECT_EQ(named(judge_siblings(other), "yama").state, State::works);
}

TEST(JudgeSiblings, YamaWorksIfAccessWorksAsRoot) {
  EXPECT_EQ(named(judge_siblings({.yama = 2}), "yama").state, State::works);
}

}  // namespace
}  // namespace huddle::doctor
