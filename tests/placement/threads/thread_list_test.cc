// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/touch_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../../common/fake_system.h"

namespace huddle::threads {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Creates the files of a thread in /proc, of which most fields are not used.
void start(FakeSystem& fake, pid_t process, pid_t thread) {
  const std::string folder = fmt::format("/proc/{}/task/{}/", process, thread);
  std::string fields;
  for (int field = 3; field <= 52; ++field) fields += " 0";
  fake.file(folder + "stat", fmt::format("{} (app){}\n", thread, fields));
  fake.file(folder + "comm", fmt::format("app-{}\n", thread));
}

TEST(ThreadList, NumbersFollowOrderOfCreation) {
  FakeSystem fake;
  for (const pid_t thread : {10, 11, 12}) start(fake, 10, thread);
  ThreadList list(Numbers::kept, fake.system());
  EXPECT_EQ(list.look({10}).size(), 3U);
  EXPECT_EQ(list.number_of(12), 2);
  start(fake, 20, 20);
  list.look({20});
  EXPECT_EQ(list.number_of(20), 3);
  EXPECT_EQ(list.number_of(12), -1);
  EXPECT_THAT(list.names(), ElementsAre("app-10", "app-11", "app-12", "app-20"));
  EXPECT_THAT(list.take_reused(), IsEmpty());
}

// More programs, one after the other, than there are numbers.
TEST(ThreadList, NumbersOfEndedProgramsAreReused) {
  FakeSystem fake;
  ThreadList list(Numbers::reused, fake.system());
  for (const pid_t thread : {1, 2}) start(fake, 1, thread);
  list.look({1});
  for (pid_t process = 10; process < 20; ++process) {
    start(fake, process, process);
    list.look({1, process});
    EXPECT_EQ(list.number_of(process), 2);
    EXPECT_EQ(list.number_of(2), 1);
  }
  EXPECT_EQ(list.names().size(), 3U);
  EXPECT_EQ(list.names()[2], "app-19");
  EXPECT_EQ(list.take_reused().size(), 9U);
  EXPECT_THAT(list.take_reused(), IsEmpty());
}

}  // namespace
}  // namespace huddle::threads
