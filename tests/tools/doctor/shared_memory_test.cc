// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_system.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

constexpr double megabyte = 1024.0 * 1024;

ShmFacts roomy() {
  return {.memfd_error = 0,
          .folder = true,
          .writable = true,
          .size_bytes = 8192 * megabyte,
          .free_bytes = 8000 * megabyte};
}

TEST(JudgeSharedMemory, LargeFolderWorks) {
  const auto findings = judge_shared_memory(roomy());
  EXPECT_EQ(count(findings, State::works), 2);
  EXPECT_EQ(named(findings, "shm").found, "8G, 7.81G free");
}

TEST(JudgeSharedMemory, DefaultOfContainersIsLimited) {
  ShmFacts facts = roomy();
  facts.size_bytes = facts.free_bytes = 64 * megabyte;
  const Finding shm = named(judge_shared_memory(facts), "shm");
  EXPECT_EQ(shm.state, State::limited);
  EXPECT_THAT(shm.cost, HasSubstr("bus error"));
  EXPECT_THAT(shm.remedy, HasSubstr("--shm-size"));
}

TEST(JudgeSharedMemory, FullFolderHasAnotherRemedy) {
  ShmFacts facts = roomy();
  facts.free_bytes = megabyte;
  EXPECT_EQ(named(judge_shared_memory(facts), "shm").command, "ls -l /dev/shm");
}

TEST(JudgeSharedMemory, OneOfBothIsSufficient) {
  ShmFacts no_folder = roomy();
  no_folder.folder = no_folder.writable = false;
  EXPECT_EQ(named(judge_shared_memory(no_folder), "shm").state, State::limited);
  EXPECT_EQ(named(judge_shared_memory(no_folder), "shm").found, "missing");
  EXPECT_EQ(count(judge_shared_memory(no_folder), State::fails), 0);

  ShmFacts no_memfd = roomy();
  no_memfd.memfd_error = ENOSYS;
  EXPECT_EQ(named(judge_shared_memory(no_memfd), "memfd").state, State::limited);

  no_memfd.writable = false;
  EXPECT_EQ(named(judge_shared_memory(no_memfd), "memfd").state, State::fails);
  EXPECT_EQ(named(judge_shared_memory(no_memfd), "shm").found, "not writable");
}

TEST(CheckSharedMemory, ExaminesTheFolder) {
  FakeSystem fake;
  EXPECT_EQ(named(check_shared_memory(fake.system()), "shm").found, "missing");
  fake.file("/dev/shm/somebodys", "");
  EXPECT_THAT(named(check_shared_memory(fake.system()), "shm").found, HasSubstr(" free"));
  EXPECT_EQ(named(check_shared_memory(fake.system()), "memfd").state, State::works);
}

}  // namespace
}  // namespace huddle::doctor
