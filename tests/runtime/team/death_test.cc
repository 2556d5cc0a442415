// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks die at any time; the survivors notice it and keep no resources of them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../common/old_kernel.h"
#include "common/error.h"
#include "kills.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "sanitizer.h"
#include "setup.h"

namespace huddle::team {
namespace {

using namespace std::chrono_literals;
using How = RankEnd::How;

// Simulates a rank that waits for a flag that is never raised.
void wait_for_a_death(Members& members) {
  while (true) members.check();  // throws
}

std::string what_is_lost(Members& members) {
  try {
    wait_for_a_death(members);
    return "nobody";
  } catch (const context::PeerLost& lost) {
    return lost.what();
  }
}

TEST(Death, IsNoticedByAllWaitingRanks) {
  for (const int victim : {0, 2}) {
    const auto ends = run_ranks(4, [victim](const Bootstrap& bootstrap) {
      Peers peers(new_arena());
      const auto members = peers.join(bootstrap, 1000);
      if (bootstrap.rank == victim) raise(SIGKILL);
      EXPECT_EQ(what_is_lost(*members), "rank " + std::to_string(victim) +
                                            " of the team has died; see its output for the reason");
    });
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
    }
  }
}

// Linux 4.18 has no pidfds.
TEST(Death, IsNoticedOnAnOldKernel) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << why_skipped;
  constexpr int victim = 1;
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    ASSERT_EQ(emulate_old_kernel(), 0);
    Peers peers(new_arena());
    const auto members = peers.join(bootstrap, 1000);
    EXPECT_NO_THROW(members->check());
    for (int rank = 0; rank < 3; ++rank) EXPECT_FALSE(members->is_gone(rank));
    barrier(bootstrap);
    if (bootstrap.rank == victim) raise(SIGKILL);
    EXPECT_EQ(what_is_lost(*members), "rank 1 of the team has died; see its output for the reason");
  });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
  }
}

// poll() fails if it gets more entries than RLIMIT_NOFILE.
TEST(Death, IsNoticedIfRanksOutnumberDescriptors) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << why_skipped;
  constexpr int victim = 2;
  const auto ends = run_ranks(4, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto members = peers.join(bootstrap, 1000);
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NOFILE, &few);
    if (bootstrap.rank == victim) raise(SIGKILL);
    EXPECT_EQ(what_is_lost(*members), "rank 2 of the team has died; see its output for the reason");
  });
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
  }
}

// Returns the pidfds with which this rank monitors the others.
std::vector<int> watches(const Members& members) {
  std::vector<int> all;
  for (int rank = 0; rank < members.ranks(); ++rank) {
    if (rank != members.rank()) all.push_back(members.process(rank));
  }
  return all;
}

// Programs that become daemons close all descriptors.
TEST(Death, IsNotInferredFromAClosedDescriptor) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto members = peers.join(bootstrap, 1000);
    for (const int watch : watches(*members)) EXPECT_EQ(close(watch), 0);
    EXPECT_NO_THROW(members->check());
    for (int rank = 0; rank < 3; ++rank) EXPECT_FALSE(members->is_gone(rank));
    barrier(bootstrap);
    if (bootstrap.rank == 1) raise(SIGKILL);
    EXPECT_EQ(what_is_lost(*members), "rank 1 of the team has died; see its output for the reason");
  });
  EXPECT_EQ(ends[0].how, How::fine);
  EXPECT_EQ(ends[1].how, How::killed);
  EXPECT_EQ(ends[2].how, How::fine);
}

TEST(Death, IsNotInferredFromAFileOfTheApplication) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    const FileDescriptor null(open("/dev/null", O_RDONLY));
    const FileDescriptor event(eventfd(1, EFD_CLOEXEC));
    for (const FileDescriptor* const readable : {&null, &event}) {
      Peers peers(new_arena());
      auto members = peers.join(bootstrap, 1000);
      const int watch = watches(*members).front();
      EXPECT_EQ(dup2(readable->number(), watch), watch);
      EXPECT_NO_THROW(members->check());
      EXPECT_FALSE(members->is_gone(1 - bootstrap.rank));
      barrier(bootstrap);
      members.reset();
      barrier(bootstrap);
      EXPECT_EQ(close(watch), 0) << "the program's own file is no longer open";
    }
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, How::fine);
}

// The pidfd is of a child of the application.
TEST(Death, IsNotInferredFromAPidfdOfTheApplication) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto members = peers.join(bootstrap, 1000);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    const int watch = watches(*members).front();
    const FileDescriptor own(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    EXPECT_EQ(dup2(own.number(), watch), watch);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_NO_THROW(members->check());
    barrier(bootstrap);
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, How::fine);
}

TEST(Death, AfterLeavingIsNotReported) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    auto members = peers.join(bootstrap, 1000);
    const auto second = peers.join(bootstrap, 1000);
    if (bootstrap.rank == 1) {
      members.reset();
      // Its presence word is reused by a team that it has not left.
      const auto third = peers.join(
          {0, 1, [](auto mine, auto all) { std::copy(mine.begin(), mine.end(), all.begin()); }},
          1000);
      raise(SIGKILL);
    }
    EXPECT_EQ(what_is_lost(*second), "rank 1 of the team has died; see its output for the reason");
    members->check();
    members->check();
    // Rank 0 is the hub, so it leaves last; otherwise rank 2 would notice rank 0 instead of rank 1.
    if (bootstrap.rank == 2) {
      members.reset();
    }
  });
  EXPECT_EQ(ends[0].how, How::fine);
  EXPECT_EQ(ends[1].how, How::killed);
  EXPECT_EQ(ends[2].how, How::fine);
}

TEST(Death, BeforeLeavingFreesTheTeamsToo) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    auto members = peers.join(bootstrap, 100'000);
    const std::size_t used = peers.arena().used_bytes();
    if (bootstrap.rank == 1) raise(SIGKILL);
    what_is_lost(*members);
    members.reset();
    EXPECT_EQ(peers.departed_teams(), 0U);
    EXPECT_LE(peers.arena().used_bytes(), used - 100'000);
  });
  EXPECT_EQ(ends[0].how, How::fine);
}

// Sets up, uses and leaves teams until a rank dies.
void live(const Bootstrap& bootstrap, unsigned int seed, DescriptorRoute route,
          memory::ArenaFile::Kind kind) {
  std::mt19937 common(seed);  // the same sequence on all ranks
  std::mt19937 own(seed + static_cast<unsigned int>(bootstrap.rank) + 1);
  Peers peers(new_arena(kind), route);
  std::vector<std::unique_ptr<Members>> teams;
  while (true) {
    teams.push_back(peers.join(bootstrap, own() % 300'000 + 1));
    const memory::Piece piece = peers.arena().allocate(own() % 100'000 + 1);
    for (const auto& team : teams) {
      std::memset(team->piece(bootstrap.rank), 1, team->piece_bytes(bootstrap.rank));
      team->check();
    }
    if (common() % 8 == 0) wait_for_a_death(*teams.back());
    while (own() % 2 == 0 && !teams.empty()) teams.pop_back();
    peers.arena().free(piece);
  }
}

// Derives the route of descriptors and the kind of memory from the seed, equally on all ranks.
void live_in_some_way(const Bootstrap& bootstrap, unsigned int seed) {
  const auto route = seed % 3 == 0 ? DescriptorRoute::sent : DescriptorRoute::proc_first;
  const auto kind =
      seed / 3 % 3 == 0 ? memory::ArenaFile::Kind::in_folder : memory::ArenaFile::Kind::memfd_first;
  live(bootstrap, seed, route, kind);
}

TEST(Death, AtAnyMomentLeavesNothingBehind) {
  expect_nothing_left_by_deaths(live_in_some_way, 8ms);
}

}  // namespace
}  // namespace huddle::team
