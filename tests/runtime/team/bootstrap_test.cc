// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The bootstraps of huddle: for forked processes, and by the name of a path.
#include "runtime/team/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/error.h"
#include "ranks.h"
#include "runtime/team/socket_bootstrap.h"
#include "sanitizer.h"

namespace huddle::team {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using How = RankEnd::How;

// Gathers messages of several sizes and checks every byte.
void gather_some(const Bootstrap& bootstrap) {
  const auto ranks = static_cast<std::size_t>(bootstrap.ranks);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{3000}, std::size_t{1} << 18}) {
    const std::vector<std::byte> mine(bytes, std::byte(bootstrap.rank + 1));
    std::vector<std::byte> all(bytes * ranks);
    bootstrap.allgather(mine, all);
    std::vector<std::byte> expected;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      expected.insert(expected.end(), bytes, std::byte(rank + 1));
    }
    ASSERT_TRUE(all == expected) << bytes << " bytes";
  }
}

// Returns the error of an allgather; empty if it succeeds.
std::string failure_of(const Bootstrap& bootstrap) {
  return std::string(RankError::of([&] { gather(bootstrap, 0); }).text());
}

TEST(ForkBootstrap, GathersFromAllRanks) {
  for (const int ranks : {1, 2, 5, 17}) EXPECT_THAT(run_ranks(ranks, gather_some), Each(How::fine));
}

TEST(ForkBootstrap, WorksWithThreads) {
  EXPECT_THAT(run_thread_ranks(5, gather_some), Each(How::fine));
}

TEST(ForkBootstrap, DeathOfOneRankFailsAllRanks) {
  for (const int victim : {0, 1, 3}) {
    const auto ends = run_ranks(4, [victim](const Bootstrap& bootstrap) {
      gather_some(bootstrap);
      if (bootstrap.rank == victim) raise(SIGKILL);
      EXPECT_THAT(failure_of(bootstrap), StartsWith("rank " + std::to_string(victim)));
      EXPECT_NE(failure_of(bootstrap), "");
    });
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
    }
  }
}

TEST(ForkBootstrap, DifferentSizesFailOnAllRanks) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    const std::vector<std::byte> mine(bootstrap.rank == 2 ? 4 : 8);
    std::vector<std::byte> all(3 * mine.size());
    const RankError rank_error = RankError::of([&] { bootstrap.allgather(mine, all); });
    EXPECT_THAT(std::string(rank_error.text()),
                HasSubstr("rank 2 contributes 4 bytes, but rank 0 contributes 8"));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// poll() fails if it gets more entries than RLIMIT_NOFILE.
TEST(ForkBootstrap, TooManyRanksForPollFailOnAllRanks) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << why_skipped;
  const auto ends = run_ranks(4, [](const Bootstrap& bootstrap) {
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NOFILE, &few);
    EXPECT_THAT(failure_of(bootstrap), HasSubstr("ulimit -n"));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// A path that no other test run uses at the same time. Test runs in several PID namespaces may have
// the same process ID.
std::string meeting_place() {
  return "/nowhere/huddle-test-" + std::to_string(getpid()) + "-" +
         std::to_string(std::random_device()());
}

TEST(PathBootstrap, GathersFromAllRanks) {
  const std::string place = meeting_place();
  for (const int ranks : {1, 2, 9}) {
    EXPECT_THAT(run_ranks(ranks,
                          [&](const Bootstrap& forked) {
                            for (int again = 0; again < 3; ++again) {
                              gather_some(path_bootstrap(place, forked.rank, ranks, 20s));
                            }
                          }),
                Each(How::fine));
  }
}

// The limit is that of the rendezvous. Afterwards a rank may compute before it creates a team.
TEST(PathBootstrap, LimitDoesNotConcernAllgathers) {
  const std::string place = meeting_place();
  const auto ends = run_ranks(2, [&](const Bootstrap& forked) {
    constexpr std::chrono::milliseconds limit = 2s;
    const Bootstrap both = path_bootstrap(place, forked.rank, 2, limit);
    if (forked.rank == 1) std::this_thread::sleep_for(limit + 100ms);  // a computation
    gather_some(both);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(PathBootstrap, WaitsForALateRankZero) {
  const std::string place = meeting_place();
  const auto ends = run_ranks(3, [&](const Bootstrap& forked) {
    // The other ranks have tried to connect many times when rank 0 arrives.
    if (forked.rank == 0) poll(nullptr, 0, 100);
    gather_some(path_bootstrap(place, forked.rank, 3, 20s));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Expects that all ranks get an error with `reason` if they arrive as (rank, ranks).
void expect_refusal(const std::vector<std::pair<int, int>>& who, const std::string& reason,
                    std::chrono::milliseconds limit = 20s) {
  const std::string place = meeting_place();
  const auto ends = run_ranks(static_cast<int>(who.size()), [&](const Bootstrap& forked) {
    const auto& as = who[static_cast<std::size_t>(forked.rank)];
    const RankError rank_error =
        RankError::of([&] { path_bootstrap(place, as.first, as.second, limit); });
    EXPECT_THAT(std::string(rank_error.text()), HasSubstr(reason));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(PathBootstrap, DuplicateRankFailsAllRanks) {
  expect_refusal({{0, 3}, {1, 3}, {1, 3}}, "two processes connected as rank 1");
  expect_refusal({{0, 3}, {1, 3}, {0, 3}}, "two processes connected as rank 0");
}

TEST(PathBootstrap, RankOutOfRangeFailsAllRanks) {
  expect_refusal({{0, 2}, {2, 2}}, "connected as rank 2, but there are only 2 ranks");
  expect_refusal({{0, 2}, {-1, 2}}, "connected as rank -1, but there are only 2 ranks");
}

TEST(PathBootstrap, DifferentNumbersOfRanksFailOnAllRanks) {
  expect_refusal({{0, 3}, {1, 4}, {2, 3}}, "rank 1 was started for 4 ranks, but rank 0 for 3");
}

TEST(PathBootstrap, MissingRankFailsAllRanks) {
  expect_refusal({{0, 3}, {1, 3}}, "the first missing one is rank 2", 100ms);
  expect_refusal({{1, 3}}, "rank 0 did not listen at", 100ms);
}

// Rank 2 never arrives; rank 1 arrives and is killed. If it is killed before it has sent its hello,
// it does not count as having arrived, so the test repeats this with more time.
TEST(PathBootstrap, DeathOfAnArrivedRankFailsRankZero) {
  const std::string place = meeting_place();
  std::array<int, 2> told{};
  ASSERT_EQ(pipe(told.data()), 0);
  const auto ends = run_ranks(2, [&](const Bootstrap& forked) {
    if (forked.rank == 0) {
      EXPECT_THAT(std::string(RankError::of([&] { path_bootstrap(place, 0, 3, 10min); }).text()),
                  HasSubstr("rank 1 connected at"));
      EXPECT_EQ(write(told[1], "x", 1), 1);
      return;
    }
    pollfd watched{told[0], POLLIN, 0};
    for (int patience_ms = 20; watched.revents == 0; patience_ms *= 2) {
      RankProcesses visitor(1, [&](const Bootstrap&) { path_bootstrap(place, 1, 3, 10min); });
      poll(&watched, 1, patience_ms);
      visitor.kill(0);
      visitor.wait(rank_limit);
      poll(&watched, 1, patience_ms);
    }
  });
  EXPECT_THAT(ends, Each(How::fine));
  close(told[0]);
  close(told[1]);
}

TEST(PathBootstrap, TwoUsersDoNotConnect) {
  if (geteuid() != 0) GTEST_SKIP() << "to be another user takes root";
  const std::string place = meeting_place();
  // The other user binds the name that is reserved for this user.
  const auto ends = run_ranks(2, [&](const Bootstrap& forked) {
    if (forked.rank == 0) {
      EXPECT_THAT(std::string(RankError::of([&] { path_bootstrap(place, 0, 2, 100ms); }).text()),
                  HasSubstr("1 of 2 ranks connected"));
    } else {
      EXPECT_EQ(setuid(65534), 0);
      EXPECT_THAT(std::string(RankError::of([&] { path_bootstrap(place, 1, 2, 100ms); }).text()),
                  HasSubstr("rank 0 did not listen"));
    }
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Agree, ErrorNamesTheLowestFailedRank) {
  const auto ends = run_ranks(4, [](const Bootstrap& bootstrap) {
    agree(bootstrap, [] {});
    const RankError rank_error = RankError::of([&] {
      agree(bootstrap, [&] {
        if (bootstrap.rank >= 2) throw FailureError("it rains here");
      });
    });
    EXPECT_EQ(rank_error.text(), "rank 2: it rains here");
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(RankError, TruncatesLongText) {
  const RankError rank_error(std::string(1000, 'x'));
  EXPECT_EQ(rank_error.text(), std::string(199, 'x'));
  EXPECT_FALSE(RankError().is_any());
  EXPECT_TRUE(RankError("").is_any());
}

}  // namespace
}  // namespace huddle::team
