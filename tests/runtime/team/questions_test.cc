// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that start to vote before each call: all start with the same call, whichever rank requests
// it, and no rank waits forever if the requesting rank dies.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <random>
#include <vector>

#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/memory/one_sided_fence.h"
#include "runtime/node/agreement.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using How = RankEnd::How;

// The last rank requests votes when the other ranks have already begun the call.
void come_too_late(const Bootstrap& bootstrap) {
  Context context(two_core_options());
  Team team(context, bootstrap);
  const bool is_late = bootstrap.rank == bootstrap.ranks - 1;
  for (int call = 0; call < 100; ++call) EXPECT_FALSE(team.vote_pending(false));
  if (is_late) {
    team.barrier();
    EXPECT_FALSE(team.vote_pending(true));
  } else {
    EXPECT_FALSE(team.vote_pending(false));
    team.barrier();
  }
  team.barrier();
  for (int call = 0; call < 100; ++call) {
    EXPECT_TRUE(team.vote_pending(is_late));
    EXPECT_EQ(team.any_rank(is_late && call % 3 == 0), call % 3 == 0);
  }
}

TEST(Questions, LateRequestTakesEffectOnNextCall) {
  expect_fine(run_ranks(3, come_too_late));
  expect_fine(run_thread_ranks(3, come_too_late));
}

// The request of the first rank to begin a call takes effect at that call.
TEST(Questions, EarlyRequestTakesEffectImmediately) {
  expect_fine(run_ranks(3, [](const Bootstrap& bootstrap) {
    Context context(two_core_options());
    Team team(context, bootstrap);
    const bool is_first = bootstrap.rank == 1;
    if (!is_first) team.barrier();
    EXPECT_TRUE(team.vote_pending(is_first));
    if (is_first) team.barrier();
    EXPECT_TRUE(team.any_rank(is_first));
  }));
}

// Roots run ahead as far as the team permits, and several ranks may request votes at once.
void run_ahead(const Bootstrap& bootstrap, unsigned seed) {
  constexpr int calls = 60;
  Context context(two_core_options());
  Team team(context, bootstrap);
  std::mt19937 common(seed);
  std::mt19937 own(seed + 1 + static_cast<unsigned>(bootstrap.rank));
  const int matters_from = static_cast<int>(own() % (2 * calls));
  int started = calls;
  for (int call = 0; call < calls; ++call) {
    const bool matters = call >= matters_from;
    if (team.vote_pending(matters)) {
      started = std::min(started, call);
      team.any_rank(matters);
    }
    int word = call;
    team.bcast(&word, sizeof word, static_cast<int>(common() % 3 == 0 ? 1 : 0));
    EXPECT_EQ(word, call);
  }
  const std::vector<int> all = gather(bootstrap, started);
  EXPECT_EQ(all, std::vector<int>(all.size(), started)) << "seed " << seed;
}

TEST(Questions, BeginWithTheSameCallOnAllRanks) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto function = [seed](const Bootstrap& bootstrap) { run_ahead(bootstrap, 10 * seed); };
    expect_fine(seed % 2 == 0 ? run_ranks(3, function) : run_thread_ranks(3, function));
  }
}

// Kills the requesting rank at a point where the others wait for it.
struct DeadlyFence {
  void frequent_side(context::NativeContext& /*w*/) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void rare_side(context::NativeContext& /*w*/) const { raise(SIGKILL); }
};

TEST(Questions, DeathOfTheRequestingRankIsNoticed) {
  constexpr int victim = 1;
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(
        std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = std::size_t{1} << 20}));
    const auto members = peers.join(bootstrap, node::CommonStart::shared_bytes());
    std::vector<std::byte*> shared;
    for (int rank = 0; rank < bootstrap.ranks; ++rank) shared.push_back(members->piece(rank));
    context::Waiting waiting({}, nullptr, [&] { members->check(); });
    const context::ProtocolContext context{bootstrap.rank, bootstrap.ranks, shared.data(), nullptr,
                                           &waiting};
    context::NativeContext ctx(context, {});
    node::CommonStart start(0, 0);
    const auto make_calls = [&] {
      while (!start.has_started(ctx, bootstrap.rank == victim, DeadlyFence())) {
      }
    };
    EXPECT_THROW(make_calls(), context::PeerLost);
  });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
  }
}

}  // namespace
}  // namespace huddle::team
