// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "ranks.h"
#include "team/agree.h"
#include "world/peer_lost.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using How = RankEnd::How;

std::shared_ptr<memory::Arena> new_arena() {
  return std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = std::size_t{1} << 30});
}

// A piece of so many bytes that holds the rank's number everywhere.
Peers::Bring bring(std::size_t bytes, int rank) {
  return [bytes, rank](memory::Arena& arena) {
    const memory::Piece piece = arena.allocate(bytes);
    std::memset(arena.data(piece), rank, piece.bytes);
    return piece;
  };
}

void barrier(const Bootstrap& bootstrap) { gather(bootstrap, char{}); }

// Everybody reads what everybody brought, writes a byte to everybody, and finds everybody's.
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

TEST(Peers, OfProcessesShareWhatTheyBring) {
  for (const int ranks : {1, 2, 5}) {
    const auto ends = run_ranks(ranks, [](const Bootstrap& bootstrap) {
      Peers peers(new_arena());
      make_and_talk(bootstrap, peers);
    });
    EXPECT_THAT(ends, Each(How::fine));
  }
}

TEST(Peers, OfThreadsShareWhatTheyBring) {
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

TEST(Peers, ReachEachOtherWhereProcIsRefused) {
  for (const int ranks : {2, 16}) {
    const auto ends = run_ranks(ranks, [](const Bootstrap& bootstrap) {
      prctl(PR_SET_DUMPABLE, 0);
      if (geteuid() == 0) {
        ASSERT_EQ(setuid(65534), 0);
      }
      Peers peers(new_arena());
      make_and_talk(bootstrap, peers);
    });
    EXPECT_THAT(ends, Each(How::fine));
  }
}

TEST(Peers, ReachEachOtherByDescriptorsThatAreSent) {
  const auto ends = run_ranks(32, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena(), DescriptorRoute::sent);
    make_and_talk(bootstrap, peers);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
