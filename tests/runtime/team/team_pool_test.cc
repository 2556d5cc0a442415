// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/team_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <vector>

#include "common/arithmetic.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "setup.h"

namespace huddle::team {
namespace {

using Entry = TeamPool::Entry;

constexpr int pool_ranks = 3;
const std::vector<int> members = {0, 1, 2};

CpuBinding here() { return cpu_binding_of_this_thread(0); }

Entry made(Context& context, const Bootstrap& bootstrap, std::uint64_t number) {
  return {members, number, 0, std::make_unique<Team>(context, bootstrap)};
}

int root_of(int call) { return call % pool_ranks; }

void use(Team& team, int calls) {
  for (int call = 0; call < calls; ++call) {
    int word = team.rank() == root_of(call) ? call : -1;
    team.bcast(&word, sizeof word, root_of(call));
    ASSERT_EQ(word, call);
    team.barrier();
  }
}

void run(const RankFunction& function) {
  for (const RankEnd& end : run_ranks(pool_ranks, function))
    EXPECT_EQ(end.how, RankEnd::How::fine) << end;
}

TEST(TeamPool, ReusedTeamContinuesItsCalls) {
  run([](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:1 core:4 pu:1", 64 * MiB));
    TeamPool pool(MiB * 8);
    pool.put(made(context, bootstrap, 1));
    const std::size_t used = context.peers().arena().used_bytes();
    std::size_t first = 0;
    for (int life = 0; life < 50; ++life) {
      Entry entry = pool.take(members, here());
      ASSERT_EQ(entry.number, 1U);
      ASSERT_EQ(pool.teams(), 0U);
      use(*entry.team, 1 + life % 7);
      if (life == 0) first = context.peers().arena().used_bytes();
      EXPECT_EQ(context.peers().arena().used_bytes(), first) << "nothing is taken anew";
      pool.put(std::move(entry));
    }
    EXPECT_GT(first, used);
  });
}

TEST(TeamPool, MatchesMembersInOrderAndTakesTheLowestNumber) {
  run([](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:1 core:4 pu:1", 64 * MiB));
    TeamPool pool(MiB * 8);
    for (const std::uint64_t number : {7, 3, 5}) pool.put(made(context, bootstrap, number));
    EXPECT_EQ(pool.take(std::array{0, 2, 1}, here()).team, nullptr);
    EXPECT_EQ(pool.take(std::array{0, 1}, here()).team, nullptr);
    const Entry lowest = pool.take(members, here());
    EXPECT_EQ(lowest.number, 3U);
    EXPECT_EQ(pool.take(members, here()).number, 5U);
  });
}

TEST(TeamPool, ReturnsNoTeamAfterTheBindingChanged) {
  run([](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:1 core:4 pu:1", 64 * MiB));
    TeamPool pool(MiB * 8);
    pool.put(made(context, bootstrap, 1));
    CpuBinding elsewhere = here();
    const std::size_t processor = 0;
    if (CPU_ISSET(processor, &elsewhere.allowed)) {
      CPU_CLR(processor, &elsewhere.allowed);
    } else {
      CPU_SET(processor, &elsewhere.allowed);
    }
    EXPECT_EQ(pool.take(members, elsewhere).team, nullptr);
    EXPECT_NE(pool.take(members, here()).team, nullptr);
  });
}

TEST(TeamPool, RespectsTheLimitAndDropsLostTeams) {
  run([](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:1 core:4 pu:1", 64 * MiB));
    Entry one = made(context, bootstrap, 1);
    Entry two = made(context, bootstrap, 2);
    Entry lost = made(context, bootstrap, 3);
    TeamPool pool(one.team->shared_bytes());
    lost.team->abandon("for the test");
    pool.put(std::move(lost));
    EXPECT_EQ(pool.teams(), 0U);
    pool.put(std::move(one));
    pool.put(std::move(two));
    EXPECT_EQ(pool.teams(), 1U);
    EXPECT_EQ(pool.take(members, here()).number, 2U) << "the other has waited longer";
    pool.put({});
    EXPECT_EQ(pool.teams(), 0U);
  });
}

}  // namespace
}  // namespace huddle::team
