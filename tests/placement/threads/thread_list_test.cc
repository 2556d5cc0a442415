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

void end(const FakeSystem& fake, pid_t process, pid_t thread) {
  fake.remove(fmt::format("/proc/{}/task/{}", process, thread));
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
  EXPECT_THAT(list.take_reused(), ElementsAre(2));
  EXPECT_THAT(list.take_reused(), IsEmpty());
}

// One after the other, in a program that goes on.
TEST(ThreadList, NumbersOfEndedThreadsAreReused) {
  FakeSystem fake;
  ThreadList list(Numbers::reused, fake.system());
  start(fake, 1, 1);
  for (pid_t thread = 10; thread < 20; ++thread) {
    start(fake, 1, thread);
    list.look({1});
    EXPECT_EQ(list.number_of(1), 0);
    EXPECT_EQ(list.number_of(thread), 1);
    end(fake, 1, thread);
  }
  EXPECT_THAT(list.take_reused(), ElementsAre(1));
}

TEST(ThreadList, NumbersOfEndedThreadsAreReusedOnceAllAreUsed) {
  FakeSystem fake;
  ThreadList list(Numbers::kept, fake.system());
  for (pid_t thread = 1; thread <= most_threads; ++thread) start(fake, 1, thread);
  list.look({1});
  start(fake, 1, 9000);
  list.look({1});
  EXPECT_EQ(list.number_of(9000), -1);
  end(fake, 1, 8);
  list.look({1});
  EXPECT_EQ(list.number_of(9000), 7);
  EXPECT_THAT(list.take_reused(), ElementsAre(7));
  EXPECT_EQ(list.names()[7], "app-9000");
}

// An ended thread is recognized without reading the state of all others.
TEST(ThreadList, EndedThreadsDoNotCauseALookAtAllThreads) {
  FakeSystem fake;
  ThreadList list(Numbers::kept, fake.system());
  for (const pid_t thread : {10, 11}) start(fake, 10, thread);
  list.begin_pass();
  EXPECT_EQ(list.find(10, 99, {10}), -1);
  EXPECT_TRUE(list.alive().empty());
  EXPECT_EQ(list.find(10, 11, {10}), 1);
  EXPECT_EQ(list.number_of(10), 0);
}

TEST(ThreadList, NewThreadsAreLookedForOncePerPass) {
  FakeSystem fake;
  ThreadList list(Numbers::kept, fake.system());
  start(fake, 10, 10);
  list.begin_pass();
  EXPECT_EQ(list.find(10, 10, {10}), 0);
  start(fake, 10, 11);
  EXPECT_EQ(list.find(10, 11, {10}), -1);
  list.begin_pass();
  EXPECT_EQ(list.find(10, 11, {10}), 1);
}

}  // namespace
}  // namespace huddle::threads
