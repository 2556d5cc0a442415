// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory for protocols that are set up later: all ranks get it, or none does and all is freed.
#include "runtime/team/team_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "common/arithmetic.h"
#include "common/error.h"
#include "ranks.h"
#include "runtime/team/bootstrap.h"

namespace huddle::team {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t cap_bytes = 8 * MiB;
constexpr int memory_ranks = 3;
constexpr int rank_that_runs_out = 1;  // the rank without memory

// Enough repetitions to exhaust the memory of the other ranks if each failure leaked.
constexpr int tries = 50;

TeamMemory::Memory all_flags(std::size_t bytes) { return {bytes, bytes}; }

void expect_failures_that_cost_nothing(const std::function<std::size_t(int rank)>& prepare,
                                       const std::string& reason) {
  for (const RankEnd& end : run_ranks(memory_ranks, [&](const Bootstrap& bootstrap) {
         Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = cap_bytes}));
         TeamMemory team_memory(peers, bootstrap);
         context::Waiting waiting;
         team_memory.set_waiting(waiting);
         const std::size_t used = peers.arena().used_bytes();
         for (int i = 0; i < tries; ++i) {
           const RankError rank_error = RankError::of(
               [&] { team_memory.allocate([&] { return all_flags(prepare(bootstrap.rank)); }); });
           ASSERT_THAT(std::string(rank_error.text()), HasSubstr("rank 1: " + reason));
           ASSERT_EQ(peers.arena().used_bytes(), used);
         }
         EXPECT_EQ(team_memory.allocate([] { return all_flags(100); }).size(), 3U);
       })) {
    EXPECT_EQ(end.how, RankEnd::How::fine) << end;
  }
}

TEST(TeamMemory, ExhaustionOnOneRankFailsAllRanks) {
  expect_failures_that_cost_nothing(
      [](int rank) { return rank == rank_that_runs_out ? 2 * cap_bytes : MiB; },
      "the shared memory of this process is limited");
}

TEST(TeamMemory, PrepareFailureOnOneRankFailsAllRanks) {
  expect_failures_that_cost_nothing(
      [](int rank) -> std::size_t {
        if (rank == rank_that_runs_out) throw std::bad_alloc();
        return MiB;
      },
      "std::bad_alloc");
}

// A rank gives up but does not die.
TEST(TeamMemory, WaitingRanksGetTheReasonForGivingUp) {
  for (const RankEnd& end : run_ranks(memory_ranks, [](const Bootstrap& bootstrap) {
         Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = cap_bytes}));
         TeamMemory team_memory(peers, bootstrap);
         context::Waiting waiting({}, {}, [&] { team_memory.check_members(); });
         team_memory.set_waiting(waiting);
         if (bootstrap.rank == rank_that_runs_out) {
           team_memory.abandon(RankError("no memory"));
         } else {
           const RankError rank_error = RankError::of([&] { team_memory.gather(bootstrap.rank); });
           EXPECT_EQ(rank_error.text(), "rank 1: no memory");
         }
         gather(bootstrap, char{});
       })) {
    EXPECT_EQ(end.how, RankEnd::How::fine) << end;
  }
}

}  // namespace
}  // namespace huddle::team
