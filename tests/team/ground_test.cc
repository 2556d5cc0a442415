// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory for protocols that are set up later: all ranks get it, or none does and nothing is kept.
#include "team/ground.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "base/error.h"
#include "ranks.h"
#include "team/agree.h"

namespace huddle::team {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t cap_bytes = 8 * mebibyte;
constexpr int ranks = 3;
constexpr int poor = 1;  // the rank that has no memory left

// Far more often than the others could, if each failure took some of theirs.
constexpr int tries = 50;

Ground::Memory all_flags(std::size_t bytes) { return {bytes, bytes}; }

void expect_failures_that_cost_nothing(const std::function<std::size_t(int rank)>& prepare,
                                       const std::string& reason) {
  for (const RankEnd& end : run_ranks(ranks, [&](const Bootstrap& bootstrap) {
         Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = cap_bytes}));
         Ground ground(peers, bootstrap);
         world::hardware::Waiting waiting;
         ground.set_waiting(waiting);
         const std::size_t used = peers.arena().used_bytes();
         for (int i = 0; i < tries; ++i) {
           const Trouble trouble = Trouble::of(
               [&] { ground.lay_out([&] { return all_flags(prepare(bootstrap.rank)); }); });
           ASSERT_THAT(std::string(trouble.text()), HasSubstr("rank 1: " + reason));
           ASSERT_EQ(peers.arena().used_bytes(), used);
         }
         EXPECT_EQ(ground.lay_out([] { return all_flags(100); }).size(), 3U);
       })) {
    EXPECT_EQ(end.how, RankEnd::How::fine) << end;
  }
}

TEST(Ground, OfWhichOneRankHasNoneLeft) {
  expect_failures_that_cost_nothing(
      [](int rank) { return rank == poor ? 2 * cap_bytes : mebibyte; }, "the cap");
}

TEST(Ground, WhenOneRankCannotPrepare) {
  expect_failures_that_cost_nothing(
      [](int rank) -> std::size_t {
        if (rank == poor) throw std::bad_alloc();
        return mebibyte;
      },
      "std::bad_alloc");
}

// Nobody has died, and the rank that comes no more stays.
TEST(Ground, TellsWhoeverWaitsWhoHasGivenUp) {
  for (const RankEnd& end : run_ranks(ranks, [](const Bootstrap& bootstrap) {
         Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = cap_bytes}));
         Ground ground(peers, bootstrap);
         world::hardware::Waiting waiting({}, {}, [&] { ground.check_members(); });
         ground.set_waiting(waiting);
         if (bootstrap.rank == poor) {
           ground.give_up(Trouble("no memory"));
         } else {
           const Trouble trouble = Trouble::of([&] { ground.gather(bootstrap.rank); });
           EXPECT_EQ(trouble.text(), "rank 1: no memory");
         }
         gather(bootstrap, char{});
       })) {
    EXPECT_EQ(end.how, RankEnd::How::fine) << end;
  }
}

}  // namespace
}  // namespace huddle::team
