// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ways in which ranks rendezvous: forked, started independently, and by a callback of the
// program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>
#include <array>
#include <string>
#include <vector>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

void talk(const TeamHandle& team, const huddle_bootstrap& place) {
  ASSERT_EQ(huddle_team_rank(team.get()), place.rank);
  ASSERT_EQ(huddle_team_ranks(team.get()), place.ranks);
  const int ranks = place.ranks;
  std::int64_t sum = place.rank + 1;
  must(huddle_allreduce(team.get(), &sum, &sum, 1, HUDDLE_INT64, HUDDLE_SUM), team);
  ASSERT_EQ(sum, ranks * (ranks + 1) / 2);
  must(huddle_barrier(team.get()), team);
}

TEST(Rendezvous, OfForkedProcessesCreatesSeveralTeams) {
  for (const int ranks : {1, 2, 5}) {
    run_c_ranks(ranks, [](const huddle_bootstrap& bootstrap) {
      const ContextHandle context = new_context();
      for (int i = 0; i < 3; ++i) talk(new_team(context, bootstrap), bootstrap);
    });
  }
}

TEST(Rendezvous, MissingForkedRankIsDetectedAtOnce) {
  run_c_ranks(3, [](const huddle_bootstrap& bootstrap) {
    if (bootstrap.rank == 1) return;
    const ContextHandle context = new_context();
    huddle_team* team = nullptr;
    huddle_message message;
    EXPECT_EQ(huddle_team_create(context.get(), &bootstrap, &team, &message), HUDDLE_FAILED);
    EXPECT_THAT(message.text, HasSubstr("rank 1"));
    EXPECT_EQ(team, nullptr);
  });
}

// Returns the exit statuses of processes that were started one by one, in this order of ranks.
std::vector<int> statuses_of_strangers(const std::string& path, int ranks,
                                       const std::vector<int>& order) {
  std::vector<pid_t> started;
  for (const int rank : order) {
    std::string command = std::string("exec ") + HUDDLE_STRANGER + " " + path + " " +
                          std::to_string(rank) + " " + std::to_string(ranks);
    std::array<std::string, 3> words = {"sh", "-c", command};
    std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t process = -1;
    EXPECT_EQ(posix_spawn(&process, "/bin/sh", nullptr, nullptr, arguments.data(), environ), 0);
    started.push_back(process);
  }
  std::vector<int> statuses;
  for (const pid_t process : started) {
    int status = -1;
    waitpid(process, &status, 0);
    statuses.push_back(status);
  }
  return statuses;
}

std::string own_path(const char* name) {
  return "/tmp/huddle-rendezvous-test-" + std::to_string(getpid()) + "-" + name;
}

TEST(Rendezvous, AtPathConnectsIndependentProcesses) {
  EXPECT_THAT(statuses_of_strangers(own_path("a"), 4, {2, 0, 3, 1}), Each(0));
  EXPECT_THAT(statuses_of_strangers(own_path("b"), 1, {0}), Each(0));
}

TEST(Rendezvous, AtPathReportsMissingRank) {
  constexpr int short_ms = 200;
  huddle_rendezvous* rendezvous = nullptr;
  huddle_message message;
  EXPECT_EQ(huddle_rendezvous_at_path(own_path("c").c_str(), 0, 3, short_ms, &rendezvous, &message),
            HUDDLE_FAILED);
  EXPECT_THAT(message.text, HasSubstr("the first missing one is rank 1"));
  EXPECT_EQ(huddle_rendezvous_at_path(own_path("d").c_str(), 2, 3, short_ms, &rendezvous, &message),
            HUDDLE_FAILED);
  EXPECT_THAT(message.text, HasSubstr("rank 0 did not listen"));
}

// A callback of the program: a ring of sockets in which each rank forwards what it receives.
struct Ring {
  int rank = 0;
  int ranks = 1;
  int from = -1;
  int to = -1;
  int calls = 0;
  int fails_at = -1;  // number of the call that fails on purpose
};

bool move_whole(ssize_t (*move)(int, void*, std::size_t), int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t done = move(fd, bytes, count);
    if (done <= 0) return false;
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
  return true;
}

int ring_allgather(void* arg, const void* mine, std::size_t bytes, void* all) {
  Ring& ring = *static_cast<Ring*>(arg);
  if (ring.calls++ == ring.fails_at) return 1;
  char* const base = static_cast<char*>(all);
  const auto slot = [&](int rank) {
    return base + bytes * static_cast<std::size_t>((rank + ring.ranks) % ring.ranks);
  };
  std::copy_n(static_cast<const char*>(mine), bytes, slot(ring.rank));
  const auto send_some = [](int fd, void* at, std::size_t n) {
    return send(fd, at, n, MSG_NOSIGNAL);
  };
  for (int step = 0; step + 1 < ring.ranks; ++step) {
    if (!move_whole(send_some, ring.to, slot(ring.rank - step), bytes)) return 2;
    if (!move_whole(read, ring.from, slot(ring.rank - step - 1), bytes)) return 3;
  }
  return 0;
}

// Runs ranks that are connected in a ring.
void run_ring(int ranks, const std::function<void(Ring& ring)>& function) {
  std::vector<std::array<int, 2>> links(static_cast<std::size_t>(ranks));
  for (auto& link : links) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, link.data()), 0);
  auto processes = std::make_unique<team::RankProcesses>(ranks, [&](const team::Bootstrap& place) {
    const auto here = static_cast<std::size_t>(place.rank);
    const std::size_t before = (here + links.size() - 1) % links.size();
    Ring ring{place.rank, place.ranks, links[before][1], links[here][0], 0, -1};
    for (std::size_t link = 0; link < links.size(); ++link) {
      if (link != here) close(links[link][0]);
      if (link != before) close(links[link][1]);
    }
    function(ring);
  });
  for (auto& link : links) {
    close(link[0]);
    close(link[1]);
  }
  EXPECT_THAT(processes->wait(team::rank_limit), Each(team::RankEnd::How::fine));
}

TEST(Rendezvous, ByUserCallback) {
  run_ring(4, [](Ring& ring) {
    const huddle_bootstrap bootstrap{ring.rank, ring.ranks, ring_allgather, &ring};
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    const int calls = ring.calls;
    talk(team, bootstrap);
    EXPECT_EQ(ring.calls, calls) << "never after the team is made";
    // Greeting, properties of each rank, check for equal decisions, addresses, and the result.
    EXPECT_LE(calls, 5);
  });
}

TEST(Rendezvous, FailingCallbackIsAFailureOnEveryRank) {
  run_ring(3, [](Ring& ring) {
    if (ring.rank == 1) ring.fails_at = 1;
    const huddle_bootstrap bootstrap{ring.rank, ring.ranks, ring_allgather, &ring};
    const ContextHandle context = new_context();
    huddle_team* team = nullptr;
    huddle_message message;
    EXPECT_EQ(huddle_team_create(context.get(), &bootstrap, &team, &message), HUDDLE_FAILED);
    EXPECT_THAT(message.text, HasSubstr("the allgather of the bootstrap failed"));
    // Its end of the ring is closed with the process, so that the others' callbacks fail as well.
  });
}

}  // namespace
}  // namespace huddle::api
