// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Failures of one rank: it is killed, or has no memory or file descriptors left. The other ranks
// get the same error, and soon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "c_ranks.h"
#include "sanitizer.h"

namespace huddle::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using team::RankEnd;
using ::testing::HasSubstr;

constexpr int victim = 1;
// It takes a fraction of a second on an idle machine. The limit only tells a delay from a hang on a
// busy one.
constexpr milliseconds notice_limit{20000};
constexpr milliseconds at_once{50};

// One of four ranks kills itself in call(team, true); the others repeat the call until it fails.
void expect_noticed(const std::function<huddle_status(const TeamHandle&, bool kills)>& call) {
  auto processes = start_c_ranks(4, [&](const huddle_bootstrap& bootstrap) {
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    huddle_status status = HUDDLE_OK;
    for (int round = 0; status == HUDDLE_OK; ++round) {
      status = call(team, bootstrap.rank == victim && round >= 3);
    }
    ASSERT_EQ(status, HUDDLE_PEER_LOST) << huddle_team_message(team.get());
    EXPECT_STREQ(huddle_team_message(team.get()),
                 "rank 1 of the team has died; see its output for the reason");
    const auto start = steady_clock::now();
    for (int again = 0; again < 10; ++again) ASSERT_EQ(call(team, false), HUDDLE_PEER_LOST);
    EXPECT_LT(steady_clock::now() - start, at_once) << "from then on at once";
  });
  const std::vector<RankEnd> ends = processes->wait(team::rank_limit);
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (rank == victim) {
      EXPECT_EQ(ends[rank], RankEnd::How::killed);
    } else {
      EXPECT_EQ(ends[rank], RankEnd::How::fine) << "rank " << rank << ": " << ends[rank];
      EXPECT_LT(ends[rank].after - ends[victim].after, notice_limit);
    }
  }
}

void die() { ::kill(getpid(), SIGKILL); }

TEST(PeerLost, IsDetectedInBarrier) {
  expect_noticed([](const TeamHandle& team, bool kills) {
    if (kills) die();
    return huddle_barrier(team.get());
  });
}

// Dies during a reduction, while other ranks wait for its data.
void join_or_die(void* result, const void* left, const void* right, std::size_t count,
                 void* kills) {
  if (*static_cast<bool*>(kills)) die();
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<char*>(result)[i] =
        static_cast<char>(static_cast<const char*>(left)[i] + static_cast<const char*>(right)[i]);
  }
}

TEST(PeerLost, IsDetectedDuringReduction) {
  expect_noticed([](const TeamHandle& team, bool kills) {
    std::vector<char> data(300'000);
    const huddle_reduction by{1, join_or_die, &kills};
    return huddle_allreduce_by(team.get(), data.data(), data.data(), data.size(), &by);
  });
}

// Before its first collective: the others are still setting up the protocol.
TEST(PeerLost, IsDetectedDuringProtocolSetUp) {
  expect_noticed([round = 0](const TeamHandle& team, bool) mutable {
    if (huddle_team_rank(team.get()) == victim && round++ == 0) die();
    return huddle_barrier(team.get());
  });
}

TEST(PeerLost, ReportsRankThatIsLaterThanTimeLimit) {
  auto processes = start_c_ranks(2, [&](const huddle_bootstrap& both) {
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, both);
    must(huddle_team_set_timeout(team.get(), 100), team);
    must(huddle_barrier(team.get()), team);
    const auto meet = [&] {
      const int mine = 0;
      std::array<int, 2> all{};
      EXPECT_EQ(both.allgather(both.arg, &mine, sizeof mine, all.data()), 0);
    };
    // Rank 1 only makes its call after that of rank 0 has failed.
    if (both.rank == 1) meet();
    // Rank 0 has done its part of the first call, which may therefore succeed on rank 1.
    if (both.rank == 1) huddle_barrier(team.get());
    EXPECT_EQ(huddle_barrier(team.get()), HUDDLE_PEER_LOST);
    EXPECT_THAT(huddle_team_message(team.get()), HasSubstr("within 100 ms"));
    if (both.rank == 0) meet();
  });
  for (const RankEnd& end : processes->wait(team::rank_limit)) {
    EXPECT_EQ(end, RankEnd::How::fine) << end;
  }
}

// Rank 1 frees its team while the others still make calls. It stays alive if `stays`.
void expect_departure_noticed(bool stays) {
  run_c_ranks(3, [stays](const huddle_bootstrap& all) {
    const ContextHandle context = new_context();
    TeamHandle team = new_team(context, all);
    must(huddle_barrier(team.get()), team);
    must(huddle_barrier(team.get()), team);
    const auto meet = [&] {
      const int mine = 0;
      std::array<int, 3> everybody{};
      return all.allgather(all.arg, &mine, sizeof mine, everybody.data());
    };
    if (all.rank == victim) {
      team.reset();
      if (stays) meet();
      return;
    }
    EXPECT_EQ(huddle_barrier(team.get()), HUDDLE_PEER_LOST);
    EXPECT_STREQ(huddle_team_message(team.get()),
                 "rank 1 has freed the team, although other ranks still make calls");
    if (stays) meet();
  });
}

TEST(PeerLost, IsDetectedIfARankFreesItsTeamEarly) { expect_departure_noticed(true); }

TEST(PeerLost, IsDetectedIfARankFreesItsTeamEarlyAndEnds) { expect_departure_noticed(false); }

TEST(PeerLost, IsReportedByCallsWithoutData) {
  auto processes = start_c_ranks(2, [&](const huddle_bootstrap& both) {
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, both);
    must(huddle_barrier(team.get()), team);
    if (both.rank == victim) die();
    EXPECT_EQ(huddle_barrier(team.get()), HUDDLE_PEER_LOST);
    EXPECT_EQ(huddle_bcast(team.get(), nullptr, 0, 0), HUDDLE_PEER_LOST);
  });
  EXPECT_EQ(processes->wait(team::rank_limit)[0], RankEnd::How::fine);
}

TEST(PeerLost, DoesNotAffectOtherTeams) {
  auto processes = start_c_ranks(3, [&](const huddle_bootstrap& all) {
    const ContextHandle context = new_context();
    const TeamHandle everybody = new_team(context, all);
    must(huddle_barrier(everybody.get()), everybody);
    if (all.rank == victim) die();
    EXPECT_EQ(huddle_barrier(everybody.get()), HUDDLE_PEER_LOST);
    // The surviving ranks rendezvous again.
    const std::string path = "/tmp/huddle-survivors-" + std::to_string(getppid());
    huddle_rendezvous* rendezvous = nullptr;
    huddle_message message;
    ASSERT_EQ(
        huddle_rendezvous_at_path(path.c_str(), all.rank / 2, 2, 20000, &rendezvous, &message),
        HUDDLE_OK)
        << message.text;
    const RendezvousHandle mine(rendezvous);
    const TeamHandle survivors = new_team(context, huddle_rendezvous_bootstrap(rendezvous));
    must(huddle_barrier(survivors.get()), survivors);
  });
  const std::vector<RankEnd> ends = processes->wait(team::rank_limit);
  EXPECT_EQ(ends[0], RankEnd::How::fine);
  EXPECT_EQ(ends[2], RankEnd::How::fine);
}

// Expects all ranks to fail with a message that contains `word` if before() and after() have run on
// rank 1.
void expect_alike(const std::function<void(huddle_settings&)>& before,
                  const std::function<void()>& after, const std::string& word) {
  run_c_ranks(3, [&](const huddle_bootstrap& bootstrap) {
    huddle_settings settings = default_settings();
    if (bootstrap.rank == victim) before(settings);
    const ContextHandle context = new_context(settings);
    if (bootstrap.rank == victim) after();
    huddle_team* team = nullptr;
    huddle_message message;
    ASSERT_EQ(huddle_team_create(context.get(), &bootstrap, &team, &message), HUDDLE_FAILED);
    EXPECT_EQ(team, nullptr);
    EXPECT_THAT(message.text, HasSubstr("rank 1"));
    EXPECT_THAT(message.text, HasSubstr(word));
  });
}

TEST(Creation, FailsOnAllRanksIfOneHasNoMemory) {
  expect_alike(
      [](huddle_settings& settings) {
        settings.cap_bytes = static_cast<std::size_t>(getpagesize());
      },
      [] {}, "cap");
}

TEST(Creation, FailsOnAllRanksIfOneHasNoDescriptors) {
  if (team::sanitizer_needs_descriptors) GTEST_SKIP() << team::why_skipped;
  expect_alike(
      [](huddle_settings&) {},
      [] {
        const int lowest_free = dup(0);
        close(lowest_free);
        const rlimit none{static_cast<rlim_t>(lowest_free), static_cast<rlim_t>(lowest_free)};
        setrlimit(RLIMIT_NOFILE, &none);
      },
      "open files");
}

TEST(Creation, CanBeRetried) {
  run_c_ranks(3, [](const huddle_bootstrap& bootstrap) {
    huddle_settings tiny = default_settings();
    tiny.cap_bytes = static_cast<std::size_t>(getpagesize());
    {
      const ContextHandle context =
          new_context(bootstrap.rank == victim ? tiny : default_settings());
      huddle_team* team = nullptr;
      ASSERT_EQ(huddle_team_create(context.get(), &bootstrap, &team, nullptr), HUDDLE_FAILED);
    }
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    must(huddle_barrier(team.get()), team);
  });
}

// One rank has enough memory for a team, but not for the buffers of a large reduction.
TEST(Collectives, FailOnAllRanksIfOneHasNoMemory) {
  run_c_ranks(3, [](const huddle_bootstrap& bootstrap) {
    huddle_settings settings = default_settings();
    // Enough pages for a team and its flags.
    if (bootstrap.rank == victim) settings.cap_bytes = 6 * static_cast<std::size_t>(getpagesize());
    const ContextHandle context = new_context(settings);
    const TeamHandle team = new_team(context, bootstrap);
    std::vector<char> data(4 << 20);
    for (int again = 0; again < 3; ++again) {
      ASSERT_EQ(huddle_allreduce(team.get(), data.data(), data.data(), data.size(), HUDDLE_INT8,
                                 HUDDLE_SUM),
                HUDDLE_FAILED);
      EXPECT_THAT(huddle_team_message(team.get()), HasSubstr("rank 1"));
    }
    must(huddle_barrier(team.get()), team);
  });
}

// Rank 1 arrives only after rank 0's callback has been called a number of times.
TEST(Progress, IsCalledByWaitingRank) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  run_c_ranks(2, [&](const huddle_bootstrap& bootstrap) {
    struct Calls {
      int count = 0;
      int tell = -1;  // descriptor to write to after 100 calls
    } calls;
    huddle_settings settings = default_settings();
    settings.progress_arg = &calls;
    settings.progress = [](void* arg) {
      Calls& mine = *static_cast<Calls*>(arg);
      if (mine.tell >= 0 && ++mine.count == 100 && write(mine.tell, "x", 1) != 1) std::abort();
    };
    const ContextHandle context = new_context(settings);
    const TeamHandle team = new_team(context, bootstrap);
    must(huddle_barrier(team.get()), team);
    if (bootstrap.rank == 0) {
      calls.tell = pipe_ends[1];
    } else {
      char byte = 0;
      ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
    }
    must(huddle_barrier(team.get()), team);
    EXPECT_EQ(calls.count >= 100, bootstrap.rank == 0);
  });
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// An exception of a C++ callback does not leave a C function.
void join_or_throw(void*, const void*, const void*, std::size_t, void*) { throw 42; }

TEST(Callbacks, ExceptionsBecomeAStatus) {
  run_c_ranks(2, [](const huddle_bootstrap& bootstrap) {
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    const huddle_reduction by{1, join_or_throw, nullptr};
    std::vector<char> data(1000);
    EXPECT_EQ(huddle_allreduce_by(team.get(), data.data(), data.data(), data.size(), &by),
              HUDDLE_FAILED);
    EXPECT_THAT(huddle_team_message(team.get()), HasSubstr("no std::exception"));
    EXPECT_EQ(huddle_barrier(team.get()), HUDDLE_PEER_LOST) << "it was left in the middle";
  });
}

TEST(Callbacks, ExceptionsDuringCreationBecomeAStatus) {
  const ContextHandle context = new_context();
  const huddle_bootstrap bootstrap{
      0, 1, [](void*, const void*, std::size_t, void*) -> int { throw 42; }, nullptr};
  huddle_team* team = nullptr;
  huddle_message message;
  EXPECT_EQ(huddle_team_create(context.get(), &bootstrap, &team, &message), HUDDLE_FAILED);
  EXPECT_EQ(team, nullptr);
  EXPECT_THAT(message.text, HasSubstr("no std::exception"));
}

// pthread_exit() unwinds like an exception; catching it without rethrowing would abort the process.
TEST(Callbacks, MayExitTheirThread) {
  const ContextHandle context = new_context();
  const auto in_thread = [](void* arg) -> void* {
    const huddle_bootstrap bootstrap{
        0, 1, [](void*, const void*, std::size_t, void*) -> int { pthread_exit(nullptr); },
        nullptr};
    huddle_team* team = nullptr;
    huddle_team_create(static_cast<huddle_context*>(arg), &bootstrap, &team, nullptr);
    return arg;  // not reached
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, in_thread, context.get()), 0);
  void* returned = context.get();
  ASSERT_EQ(pthread_join(thread, &returned), 0);
  EXPECT_EQ(returned, nullptr);
}

TEST(Forked, ProcessCannotUseParentContext) {
  run_c_ranks(2, [](const huddle_bootstrap& bootstrap) {
    huddle_rendezvous* made = nullptr;
    if (bootstrap.rank == 1) return;
    const ContextHandle context = new_context();
    ASSERT_EQ(huddle_rendezvous_before_fork(1, &made, nullptr), HUDDLE_OK);
    const RendezvousHandle rendezvous(made);
    const auto ends = team::run_ranks(1, [&](const team::Bootstrap&) {
      huddle_rendezvous_attach(made, 0, nullptr);
      const huddle_bootstrap child = huddle_rendezvous_bootstrap(made);
      huddle_team* team = nullptr;
      huddle_message message;
      EXPECT_EQ(huddle_team_create(context.get(), &child, &team, &message), HUDDLE_FAILED);
      EXPECT_THAT(message.text, HasSubstr("forked"));
    });
    EXPECT_EQ(ends[0], RankEnd::How::fine);
  });
}

}  // namespace
}  // namespace huddle::api
