// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Many teams: in several threads of each process at the same time, and created and freed by the
// thousand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "c_ranks.h"

namespace huddle::api {
namespace {

std::string numbered_path(int number) {
  return "/tmp/huddle-teams-test-" + std::to_string(getppid()) + "-" + std::to_string(number);
}

void talk(const TeamHandle& team, int rounds) {
  const int rank = huddle_team_rank(team.get());
  const int ranks = huddle_team_ranks(team.get());
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(1 + 997 * (round % 4)), rank + round);
    must(huddle_allreduce(team.get(), values.data(), values.data(), values.size(), HUDDLE_INT64,
                          HUDDLE_SUM),
         team);
    ASSERT_THAT(values, testing::Each(ranks * (ranks - 1) / 2 + ranks * round));
    must(huddle_bcast(team.get(), values.data(), 8, round % ranks), team);
    must(huddle_barrier(team.get()), team);
  }
}

// Each thread has its own rendezvous and team, with a name that the same threads of all ranks use.
void talk_in_thread(const ContextHandle& context, int number, const huddle_bootstrap& place) {
  constexpr int most_ms = 20000;
  huddle_rendezvous* rendezvous = nullptr;
  huddle_message message;
  ASSERT_EQ(huddle_rendezvous_at_path(numbered_path(number).c_str(), place.rank, place.ranks,
                                      most_ms, &rendezvous, &message),
            HUDDLE_OK)
      << message.text;
  const RendezvousHandle mine(rendezvous);
  talk(new_team(context, huddle_rendezvous_bootstrap(rendezvous)), 40);
}

void run_threads(int threads, const std::function<void(int)>& function) {
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number) all.emplace_back(function, number);
  for (std::thread& thread : all) thread.join();
}

TEST(Teams, OfSeveralThreadsShareAContext) {
  run_c_ranks(3, [](const huddle_bootstrap& place) {
    const ContextHandle context = new_context();
    run_threads(3, [&](int number) { talk_in_thread(context, number, place); });
  });
}

TEST(Teams, OfSeveralThreadsUseSeparateContexts) {
  run_c_ranks(2, [](const huddle_bootstrap& place) {
    run_threads(3, [&](int number) { talk_in_thread(new_context(), number, place); });
  });
}

// All ranks of a team are threads of one process.
TEST(Teams, OfThreadsOnly) {
  run_c_ranks(1, [](const huddle_bootstrap&) {
    const ContextHandle shared = new_context();
    run_threads(4, [&](int rank) { talk_in_thread(shared, 100, {rank, 4, nullptr, nullptr}); });
  });
}

TEST(Teams, OutliveTheirContextAndMeeting) {
  run_c_ranks(2, [](const huddle_bootstrap& bootstrap) {
    ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    context.reset();
    talk(team, 3);
  });
}

TEST(Teams, OfOneProcessAreUsedInTurn) {
  run_c_ranks(3, [](const huddle_bootstrap& bootstrap) {
    const ContextHandle first = new_context();
    const ContextHandle second = new_context();
    std::vector<TeamHandle> teams;
    for (int i = 0; i < 12; ++i) teams.push_back(new_team(i % 3 == 0 ? first : second, bootstrap));
    for (int round = 0; round < 3; ++round) {
      for (const TeamHandle& team : teams) talk(team, 2);
    }
  });
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// test-all sets TEAMS_TO_MAKE to 100,000. No resources accumulate.
TEST(Teams, AreCreatedAndFreedByTheThousand) {
  const long long teams = asked_for("TEAMS_TO_MAKE", 1000);
  constexpr std::chrono::minutes limit{10};
  const auto body = [teams](const huddle_bootstrap& bootstrap) {
    // Much less than all teams would need together.
    huddle_settings settings = default_settings();
    settings.cap_bytes = std::size_t{16} << 20;
    const ContextHandle context = new_context(settings);
    const auto start = std::chrono::steady_clock::now();
    std::size_t descriptors = 0;
    for (long long number = 0; number < teams; ++number) {
      const TeamHandle team = new_team(context, bootstrap);
      std::int32_t sum = 1;
      must(huddle_allreduce(team.get(), &sum, &sum, 1, HUDDLE_INT32, HUDDLE_SUM), team);
      ASSERT_EQ(sum, bootstrap.ranks);
      if (number == 20) descriptors = open_descriptors();
    }
    EXPECT_LE(open_descriptors(), descriptors + 4);
    if (bootstrap.rank == 0) {
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      std::printf("%lld teams, each used once: %.0f us a team\n", teams,
                  took.count() / static_cast<double>(teams));
    }
  };
  run_c_ranks(3, body, limit);
}

}  // namespace
}  // namespace huddle::api
