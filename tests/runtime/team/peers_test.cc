// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "common/error.h"
#include "process_resources.h"
#include "ranks.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/socket_bootstrap.h"
#include "setup.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using How = RankEnd::How;

// Returns a function that allocates `bytes` bytes, all of which contain the rank's number.
Peers::AllocatePiece bring(std::size_t bytes, int rank) {
  return [bytes, rank](memory::Arena& arena) {
    const memory::Piece piece = arena.allocate(bytes);
    std::memset(arena.data(piece), rank, piece.bytes);
    return piece;
  };
}

// Each rank reads all pieces, writes a byte to each of them, and checks the bytes from all ranks.
void talk(Members& members, const Bootstrap& bootstrap) {
  const auto mine = static_cast<std::size_t>(members.rank());
  for (int rank = 0; rank < members.ranks(); ++rank) {
    ASSERT_EQ(members.piece(rank)[members.piece_bytes(rank) - 1], std::byte(rank));
    members.piece(rank)[mine] = std::byte(100 + members.rank());
  }
  barrier(bootstrap);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(members.ranks()); ++rank) {
    ASSERT_EQ(members.piece(members.rank())[rank], std::byte(100 + rank));
  }
  barrier(bootstrap);
}

void make_and_talk(const Bootstrap& bootstrap, Peers& peers) {
  const auto members = peers.join(bootstrap, bring(1000, bootstrap.rank));
  talk(*members, bootstrap);
  members->check();
}

TEST(Peers, OfProcessesShareTheirPieces) {
  for (const int ranks : {1, 2, 5}) {
    const auto ends = run_ranks(ranks, [](const Bootstrap& bootstrap) {
      Peers peers(new_arena());
      make_and_talk(bootstrap, peers);
    });
    EXPECT_THAT(ends, Each(How::fine));
  }
}

TEST(Peers, OfThreadsShareTheirPieces) {
  const auto ends = run_thread_ranks(4, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    make_and_talk(bootstrap, peers);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, OfThreadsMayShareOneArena) {
  Peers peers(new_arena());
  const auto ends =
      run_thread_ranks(4, [&](const Bootstrap& bootstrap) { make_and_talk(bootstrap, peers); });
  EXPECT_THAT(ends, Each(How::fine));
}

void expect_refusal_of_proc(const Bootstrap& bootstrap) {
  for (const pid_t pid : gather(bootstrap, getpid())) {
    if (pid == getpid()) continue;
    EXPECT_EQ(access(("/proc/" + std::to_string(pid) + "/fd/0").c_str(), F_OK), -1);
  }
  barrier(bootstrap);
}

TEST(Peers, ReachEachOtherIfProcIsRefused) {
  for (const int ranks : {2, 16}) {
    const auto ends = run_ranks(ranks, [](const Bootstrap& bootstrap) {
      prctl(PR_SET_DUMPABLE, 0);
      if (geteuid() == 0) {
        ASSERT_EQ(setuid(65534), 0);
      }
      Peers peers(new_arena());
      expect_refusal_of_proc(bootstrap);
      make_and_talk(bootstrap, peers);
    });
    EXPECT_THAT(ends, Each(How::fine));
  }
}

TEST(Peers, ReachEachOtherBySentDescriptors) {
  const auto ends = run_ranks(32, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena(), DescriptorRoute::sent);
    make_and_talk(bootstrap, peers);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// A team's pieces exist as long as any rank may access them.
TEST(Peers, KeepAPieceUntilAllHaveLeft) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    auto members = peers.join(bootstrap, bring(1000, bootstrap.rank));
    const std::size_t used = peers.arena().used_bytes();
    barrier(bootstrap);
    if (bootstrap.rank == 0) {
      members.reset();
      EXPECT_EQ(peers.departed_teams(), 1U);
      EXPECT_EQ(peers.arena().used_bytes(), used);
    }
    barrier(bootstrap);
    if (bootstrap.rank == 1) {
      EXPECT_EQ(members->piece(0)[999], std::byte{0});
      members.reset();
      EXPECT_EQ(peers.departed_teams(), 0U);
    }
    barrier(bootstrap);
    peers.free_departed();
    EXPECT_EQ(peers.departed_teams(), 0U);
    EXPECT_LT(peers.arena().used_bytes(), used);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, MapEachOtherOnceForAllTeams) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto first = peers.join(bootstrap, 1000);
    const ProcessResources with_one = current_resources();
    std::vector<std::unique_ptr<Members>> more;
    for (int i = 0; i < 10; ++i) {
      more.push_back(peers.join(bootstrap, 1000));
      EXPECT_EQ(more.back()->arena_base(1), first->arena_base(1));
    }
    EXPECT_EQ(current_resources(), with_one);
    EXPECT_EQ(with_one.mappings, 3);
    EXPECT_EQ(with_one.processes, 2);
    EXPECT_EQ(with_one.arenas, 1);
    barrier(bootstrap);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, FreeEverythingOfManyTeams) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto first = peers.join(bootstrap, 1000);
    const std::size_t used = peers.arena().used_bytes();
    for (int i = 0; i < 5000; ++i) peers.join(bootstrap, 3000);
    barrier(bootstrap);
    while (peers.departed_teams() > 0) peers.free_departed();
    EXPECT_LE(peers.arena().used_bytes(), used + memory::page_bytes());
    EXPECT_LE(peers.arena().reserved_bytes(), std::size_t{1} << 20);
    barrier(bootstrap);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Two processes of three threads each, some of which have their own arena.
TEST(Peers, OfThreadsInSeveralProcessesShareTheirPieces) {
  const std::string place = "/nowhere/huddle-peers-test-" + std::to_string(getpid());
  const auto ends = run_ranks(2, [&](const Bootstrap& process) {
    Peers common(new_arena());
    const auto threads = run_thread_ranks(3, [&](const Bootstrap& thread) {
      const int rank = 3 * process.rank + thread.rank;
      const Bootstrap bootstrap = path_bootstrap(place, rank, 6, std::chrono::seconds(20));
      Peers own(new_arena());
      make_and_talk(bootstrap, thread.rank == 0 ? own : common);
      barrier(bootstrap);
    });
    EXPECT_THAT(threads, Each(How::fine));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, SupportConcurrentTeamsOfSeveralThreads) {
  const std::string place = "/nowhere/huddle-teams-test-" + std::to_string(getpid());
  const auto ends = run_ranks(3, [&](const Bootstrap& process) {
    Peers peers(new_arena());
    const auto threads = run_thread_ranks(4, [&](const Bootstrap& thread) {
      const Bootstrap bootstrap = path_bootstrap(place + std::to_string(thread.rank), process.rank,
                                                 3, std::chrono::seconds(20));
      for (int i = 0; i < 50; ++i) make_and_talk(bootstrap, peers);
    });
    EXPECT_THAT(threads, Each(How::fine));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, OfTwoUsersDoNotShare) {
  if (geteuid() != 0) GTEST_SKIP() << "to be another user takes root";
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank == 1) {
      EXPECT_EQ(setuid(65534), 0);
    }
    Peers peers(new_arena());
    EXPECT_THAT(std::string(RankError::of([&] { peers.join(bootstrap, 100); }).text()),
                HasSubstr("rank 1 runs as user 65534, but rank 0 as user 0"));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, AreUnusableInForkedChildren) {
  Peers peers(new_arena());
  const auto ends = run_ranks(2, [&](const Bootstrap& bootstrap) {
    EXPECT_THAT(std::string(RankError::of([&] { peers.join(bootstrap, 100); }).text()),
                HasSubstr("forked"));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Peers, GetTheErrorOfARankThatCannotAllocate) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto bring_or_not = [&](memory::Arena& arena) {
      if (bootstrap.rank > 0) throw FailureError("nothing to bring");
      return arena.allocate(100);
    };
    EXPECT_EQ(RankError::of([&] { peers.join(bootstrap, bring_or_not); }).text(),
              "rank 1: nothing to bring");
    make_and_talk(bootstrap, peers);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
