// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"

namespace huddle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(System, ReadsBelowItsRoot) {
  FakeSystem fake;
  fake.file("/proc/sys/kernel/numa_balancing", "1\n");
  EXPECT_TRUE(fake.system().exists("/proc/sys/kernel/numa_balancing"));
  EXPECT_EQ(fake.system().read("/proc/sys/kernel/numa_balancing"), "1");
  EXPECT_EQ(fake.system().number("/proc/sys/kernel/numa_balancing"), 1);
}

TEST(System, SaysNothingAboutWhatIsNotThere) {
  const FakeSystem fake;
  EXPECT_FALSE(fake.system().exists("/proc"));
  EXPECT_EQ(fake.system().read("/proc/stat"), std::nullopt);
  EXPECT_EQ(fake.system().number("/proc/stat"), std::nullopt);
  EXPECT_THAT(fake.system().lines("/proc/stat"), IsEmpty());
  EXPECT_THAT(fake.system().list("/proc"), IsEmpty());
}

// It can be opened, and reading it fails: as with what /proc tells of a thread that has just ended.
TEST(System, SaysNothingWhereReadingFails) {
  EXPECT_EQ(System().read("/proc/self/mem"), std::nullopt);
}

TEST(System, FindsTheValueOfAKey) {
  FakeSystem fake;
  fake.file("/proc/self/status", "Name:\tcat\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  EXPECT_EQ(fake.system().field("/proc/self/status", "Cpus_allowed_list"), "0-7");
  EXPECT_EQ(fake.system().field("/proc/self/status", "Cpus"), std::nullopt);
}

TEST(System, ListsNamesSorted) {
  FakeSystem fake;
  fake.file("/sys/x/b", "").file("/sys/x/a", "");
  EXPECT_THAT(fake.system().list("/sys/x"), ElementsAre("a", "b"));
}

TEST(System, ReadsThisMachineWithoutARoot) {
  EXPECT_TRUE(System().read("/proc/self/status").has_value());
}

TEST(WholeNumber, TakesNothingElse) {
  EXPECT_EQ(whole_number("-1"), -1);
  EXPECT_EQ(whole_number("max"), std::nullopt);
  EXPECT_EQ(whole_number("12 "), std::nullopt);
  EXPECT_EQ(whole_number(""), std::nullopt);
  EXPECT_EQ(whole_number("99999999999999999999"), std::nullopt);
}

TEST(ChosenWord, IsTheOneInBrackets) {
  EXPECT_EQ(chosen_word("always [madvise] never"), "madvise");
  EXPECT_EQ(chosen_word("madvise"), "");
  EXPECT_EQ(chosen_word("] ["), "");
}

}  // namespace
}  // namespace huddle
