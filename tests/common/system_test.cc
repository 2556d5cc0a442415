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

TEST(System, ReadsFilesUnderItsRoot) {
  FakeSystem fake;
  fake.file("/proc/sys/kernel/numa_balancing", "1\n");
  EXPECT_TRUE(fake.system().exists("/proc/sys/kernel/numa_balancing"));
  EXPECT_EQ(fake.system().read("/proc/sys/kernel/numa_balancing"), "1");
  EXPECT_EQ(fake.system().number("/proc/sys/kernel/numa_balancing"), 1);
}

TEST(System, ReturnsNothingForMissingFiles) {
  const FakeSystem fake;
  EXPECT_FALSE(fake.system().exists("/proc"));
  EXPECT_EQ(fake.system().read("/proc/stat"), std::nullopt);
  EXPECT_EQ(fake.system().number("/proc/stat"), std::nullopt);
  EXPECT_THAT(fake.system().lines("/proc/stat"), IsEmpty());
  EXPECT_THAT(fake.system().list("/proc"), IsEmpty());
}

// The file can be opened but not read, like the /proc files of a thread that has just ended.
TEST(System, ReturnsNothingIfReadingFails) {
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

TEST(WholeNumber, RejectsOtherText) {
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
