// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/presence.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>

namespace huddle::mpi {
namespace {

constexpr std::chrono::milliseconds at_once{0};

JobRank place(int rank, const std::string& job = "a job") {
  return {.job = job + std::to_string(getpid()), .rank = rank, .all_here = false};
}

TEST(Presence, ARankThatHasSignedInIsPresent) {
  Presence first(place(0), "kind");
  Presence second(place(1), "kind");
  first.announce_presence();
  EXPECT_TRUE(first.is_here(0));
  EXPECT_FALSE(first.is_here(1));
  second.announce_presence();
  second.announce_presence();
  EXPECT_TRUE(first.is_here(1));
  EXPECT_TRUE(second.is_here(0));
  EXPECT_FALSE(second.is_here(2));
}

TEST(Presence, ARankThatHasNotSignedInSeesNoOther) {
  Presence first(place(0), "kind");
  Presence second(place(1), "kind");
  first.announce_presence();
  EXPECT_FALSE(second.is_here(0));
}

TEST(Presence, JobsAndKindsAreSeparate) {
  Presence first(place(0), "kind");
  Presence other_job(place(1, "another job"), "kind");
  Presence other_kind(place(1), "another kind");
  first.announce_presence();
  other_job.announce_presence();
  other_kind.announce_presence();
  EXPECT_FALSE(first.is_here(1));
  EXPECT_FALSE(other_job.is_here(0));
  EXPECT_FALSE(other_kind.is_here(0));
}

// All ranks must see the same, or some would wait for the others.
TEST(Presence, ANameInUseIsPresentForAll) {
  Presence first(place(0), "kind");
  Presence same(place(0), "kind");
  first.announce_presence();
  same.announce_presence();
  EXPECT_TRUE(first.is_here(0));
  EXPECT_TRUE(same.is_here(0));
}

TEST(Presence, ARankWithAnUnexpectedNumberIsNotPresent) {
  Presence first(place(0), "kind");
  Presence second(place(1), "kind");
  first.announce_presence();
  second.announce_presence();
  first.confirm(0);
  second.confirm(2);
  EXPECT_FALSE(first.is_here(1));
  EXPECT_FALSE(second.is_here(0));
}

TEST(Presence, TheFirstSendsToTheOthers) {
  for (const bool answer : {true, false}) {
    Presence first(place(3), "kind");
    Presence second(place(5), "kind");
    Presence third(place(6), "kind");
    for (Presence* const one : {&first, &second, &third}) one->announce_presence();
    for (Presence* const one : {&first, &second, &third}) EXPECT_EQ(one->first_here(8), 3);
    first.tell_others(8, answer);
    EXPECT_EQ(second.hear(at_once), answer);
    EXPECT_EQ(third.hear(at_once), answer);
  }
}

// Messages to this rank would go to the process that owns the name.
TEST(Presence, ARankWhoseNameIsInUseDecidesAlone) {
  Presence first(place(0), "kind");
  Presence second(place(1), "kind");
  Presence same(place(1), "kind");
  for (Presence* const one : {&first, &second, &same}) one->announce_presence();
  EXPECT_EQ(second.first_here(2), 0);
  EXPECT_EQ(same.first_here(2), std::nullopt);
}

// The owner of the name is in another job of the same name, or malicious.
TEST(Presence, WaitingForTheFirstTimesOut) {
  Presence taker(place(0), "kind");
  Presence first(place(0), "kind");
  Presence second(place(1), "kind");
  for (Presence* const one : {&taker, &first, &second}) one->announce_presence();
  EXPECT_EQ(first.first_here(2), std::nullopt);
  EXPECT_EQ(second.first_here(2), 0);
  EXPECT_EQ(second.hear(at_once), std::nullopt);
}

TEST(Presence, ADeadRankIsNotPresent) {
  const auto child = fork();
  if (child == 0) {
    Presence gone(JobRank{.job = "of the parent" + std::to_string(getppid()), .rank = 1}, "kind");
    gone.announce_presence();
    _exit(gone.is_here(1) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Presence stays(JobRank{.job = "of the parent" + std::to_string(getpid()), .rank = 0}, "kind");
  stays.announce_presence();
  EXPECT_FALSE(stays.is_here(1));
}

TEST(Presence, WithoutAPlaceAllRanksArePresent) {
  Presence nowhere(std::nullopt, "kind");
  nowhere.announce_presence();
  EXPECT_TRUE(nowhere.is_here(5));
  EXPECT_FALSE(nowhere.is_job_on_one_node());
}

}  // namespace
}  // namespace huddle::mpi
