// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks die at any moment, and whoever is left hears of it and keeps nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system.h"
#include "leftovers.h"
#include "ranks.h"
#include "sanitizer.h"
#include "team/agree.h"
#include "team/peers.h"
#include "world/peer_lost.h"

namespace huddle::team {
namespace {

using namespace std::chrono_literals;
using How = RankEnd::How;

// Stands for a rank that waits for a flag: nothing ever comes but the news.
void wait_for_a_death(Members& members) {
  while (true) members.check();  // throws
}

std::string what_is_lost(Members& members) {
  try {
    wait_for_a_death(members);
    return "nobody";
  } catch (const world::PeerLost& lost) {
    return lost.what();
  }
}

std::shared_ptr<memory::Arena> new_arena(memory::ArenaFile::Kind kind) {
  return std::make_shared<memory::Arena>(
      memory::ArenaOptions{.cap_bytes = std::size_t{1} << 30, .kind = kind});
}
std::shared_ptr<memory::Arena> new_arena() {
  return new_arena(memory::ArenaFile::Kind::memfd_first);
}

TEST(Death, IsNoticedByAllWhoWait) {
  for (const int victim : {0, 2}) {
    const auto ends = run_ranks(4, [victim](const Bootstrap& bootstrap) {
      Peers peers(new_arena());
      const auto members = peers.join(bootstrap, 1000);
      if (bootstrap.rank == victim) raise(SIGKILL);
      EXPECT_EQ(what_is_lost(*members), "rank " + std::to_string(victim) + " of the team has died");
    });
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
    }
  }
}

// poll() takes no more at once than the limit of descriptors.
TEST(Death, IsNoticedWhereRanksOutnumberDescriptors) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << why_skipped;
  constexpr int victim = 2;
  const auto ends = run_ranks(4, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    const auto members = peers.join(bootstrap, 1000);
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NOFILE, &few);
    if (bootstrap.rank == victim) raise(SIGKILL);
    EXPECT_EQ(what_is_lost(*members), "rank 2 of the team has died");
  });
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)].how, rank == victim ? How::killed : How::fine);
  }
}

TEST(Death, AfterLeavingIsNoLoss) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(new_arena());
    auto members = peers.join(bootstrap, 1000);
    const auto second = peers.join(bootstrap, 1000);
    if (bootstrap.rank == 1) {
      members.reset();
      // Its word is used again, by a team that it has not left.
      const auto third = peers.join(
          {0, 1, [](auto mine, auto all) { std::copy(mine.begin(), mine.end(), all.begin()); }},
          1000);
      raise(SIGKILL);
    }
    EXPECT_EQ(what_is_lost(*second), "rank 1 of the team has died");
    members->check();
    members->check();
    // Rank 0 is the hub: it leaves last, so that rank 2 hears of rank 1 and not of rank 0.
    if (bootstrap.rank == 2) {
      members.reset();
    }
  });
  EXPECT_EQ(ends[0].how, How::fine);
  EXPECT_EQ(ends[1].how, How::killed);
  EXPECT_EQ(ends[2].how, How::fine);
}

TEST(Death, OfOneWhoHasNotLeftFreesItsTeamsToo) {
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

// Makes, uses and leaves teams until somebody dies.
void live(const Bootstrap& bootstrap, unsigned int seed, DescriptorRoute route,
          memory::ArenaFile::Kind kind) {
  std::mt19937 common(seed);  // draws the same on all ranks
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

void survive(const Bootstrap& bootstrap, unsigned int seed, DescriptorRoute route,
             memory::ArenaFile::Kind kind) {
  const Holdings before = current_holdings();
  bool has_heard = false;
  try {
    live(bootstrap, seed, route, kind);
  } catch (const FailureError&) {
    has_heard = true;
  }
  EXPECT_TRUE(has_heard);
  Holdings after = current_holdings();
  EXPECT_LE(after.sockets, before.sockets);  // the bootstrap's own are closed when it fails
  after.sockets = before.sockets;
  EXPECT_EQ(after, before);
}

void pause_us(long microseconds) {
  const timespec pause{0, microseconds * 1000};
  nanosleep(&pause, nullptr);
}

// As many tries as KILL_TRIES says; without it, as many as there is time for in a run of all tests.
struct Effort {
  long long most_tries = 200;
  std::chrono::seconds limit = 3s;

  static Effort asked_for() {
    const char* const text = std::getenv("KILL_TRIES");
    const auto number = whole_number(text == nullptr ? "" : text);
    return number ? Effort{*number, 1h} : Effort{};
  }
};

// How long the slowest survivor took, from the kill to its end.
std::chrono::milliseconds kill_some(unsigned int seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const int ranks = 2 + static_cast<int>(random() % 4);
  const auto route = random() % 3 == 0 ? DescriptorRoute::sent : DescriptorRoute::proc_first;
  const auto kind =
      random() % 3 == 0 ? memory::ArenaFile::Kind::in_folder : memory::ArenaFile::Kind::memfd_first;
  RankProcesses processes(
      ranks, [&](const Bootstrap& bootstrap) { survive(bootstrap, seed, route, kind); });
  pause_us(static_cast<long>(random() % 8000));
  std::vector<bool> is_victim(static_cast<std::size_t>(ranks), false);
  is_victim[random() % is_victim.size()] = true;
  const bool kills_all = random() % 10 == 0;
  for (std::size_t rank = 0; rank < is_victim.size(); ++rank) {
    is_victim[rank] = is_victim[rank] || kills_all || random() % 4 == 0;
    if (is_victim[rank]) processes.kill(static_cast<int>(rank));
  }
  const auto killed_at = std::chrono::steady_clock::now();
  const auto ends = processes.wait(20s);
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    // A victim may have heard of an earlier one's death, and be done, before its own.
    if (is_victim[rank] && ends[rank] == How::killed) continue;
    EXPECT_EQ(ends[rank].how, How::fine) << "rank " << rank;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               killed_at);
}

TEST(Death, AtAnyMomentLeavesNothingBehind) {
  const Holdings before = current_holdings();
  const Effort effort = Effort::asked_for();
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::milliseconds sum{0};
  long long tries = 0;
  while (tries < effort.most_tries && !HasFailure() &&
         std::chrono::steady_clock::now() - begin < effort.limit) {
    sum += kill_some(20261120 + static_cast<unsigned int>(tries++));
  }
  // Each within a second; the mean, since this machine may have other things to do.
  EXPECT_LT(sum / tries, 1s);
  RecordProperty("tries", std::to_string(tries));
  EXPECT_EQ(current_holdings(), before);
  EXPECT_EQ(named_files(), 0);
}

}  // namespace
}  // namespace huddle::team
