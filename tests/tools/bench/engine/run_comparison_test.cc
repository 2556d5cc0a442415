// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the harness itself: counting, and detection of planted differences.
#include "tools/bench/engine/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "common/error.h"
#include "this_machine.h"
#include "tools/bench/engine/bare.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/team_calls.h"
#include "tools/calibrate/sampling.h"

namespace huddle::bench {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

void spend(double ns) {
  const double until = calibrate::now_ns() + ns;
  while (calibrate::now_ns() < until) continue;
}

// Takes this time on every rank.
class Spender : public Implementation {
 public:
  explicit Spender(double ns) : ns_(ns) {}
  void run(const RankContext&, int calls) override {
    for (int call = 0; call < calls; ++call) spend(ns_);
  }
  std::string how(const RankContext&) override { return "slowly"; }

 private:
  double ns_;
};

// Delays each call of another implementation.
class Slowed : public Implementation {
 public:
  Slowed(std::unique_ptr<Implementation> slowed, double ns) : slowed_(std::move(slowed)), ns_(ns) {}
  void set_up(const RankContext& here) override { slowed_->set_up(here); }
  void run(const RankContext& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      spend(ns_);
      slowed_->run(here, 1);
    }
  }
  bool is_right(const RankContext& here) override { return slowed_->is_right(here); }

 private:
  std::unique_ptr<Implementation> slowed_;
  double ns_;
};

Comparison comparison_of(int ranks = 2) {
  return {.name = "trial", .binding = {ranks, test_pus()}, .entries = {}, .judgements = {}};
}

Entry entry(const char* name, std::unique_ptr<Implementation> implementation, int calls = 1,
            int stretches = 3) {
  return {.name = name,
          .implementation = std::move(implementation),
          .calls = calls,
          .stretches = stretches};
}

TEST(Hold, GivesEachEntryOneValuePerRound) {
  Comparison comparison = comparison_of(3);
  comparison.entries.push_back(entry("a", std::make_unique<Spender>(1000), 5));
  comparison.entries.push_back(entry("b", std::make_unique<Spender>(1000)));
  comparison.entries[1].predicted_ns = 47;
  const Result result = hold_quietly(comparison, 4);
  EXPECT_EQ(result.rounds, 4);
  ASSERT_THAT(result.entries, SizeIs(2));
  EXPECT_EQ(result.entries[0].name, "a");
  EXPECT_EQ(result.entries[0].how, "slowly");
  EXPECT_EQ(result.entries[0].calls, 5);
  EXPECT_EQ(result.entries[1].predicted_ns, 47);
  for (const EntryResult& one : result.entries) {
    // A call takes at least its time, whatever the number of calls in a stretch.
    EXPECT_THAT(one.ns, testing::AllOf(SizeIs(4), Each(testing::Ge(1000))));
  }
}

TEST(Hold, FindsAPlantedFactor) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("slow", std::make_unique<Spender>(60000), 1, 15));
  comparison.entries.push_back(entry("fast", std::make_unique<Spender>(20000), 1, 15));
  comparison.judgements = {{.what = "slow against fast",
                            .subject = 0,
                            .rivals = {1},
                            .bar = {Bar::Kind::time_at_most, 2}}};
  const Result result = hold_quietly(comparison, 7);
  ASSERT_THAT(result.verdicts, SizeIs(1));
  EXPECT_FALSE(result.verdicts[0].holds);
  // Ranks that share a core spend time concurrently, because the clock runs for both.
  EXPECT_NEAR(result.verdicts[0].median, 3, 1);
}

// The same code on both sides, with a delay planted on one.
TEST(Hold, FindsAPlantedDelayInABarrier) {
  constexpr int ranks = 2;
  constexpr double delay_ns = 200'000;
  Comparison comparison = comparison_of(ranks);
  const auto barrier = [] { return barrier_implementation(ranks, TeamBarrier()); };
  comparison.entries.push_back(entry("plain", barrier(), 10));
  comparison.entries.push_back(entry("slowed", std::make_unique<Slowed>(barrier(), delay_ns), 10));
  comparison.judgements = {
      {.what = "slowed", .subject = 1, .rivals = {0}, .bar = {Bar::Kind::time_at_most, 1.3}}};
  const Result result = hold_quietly(comparison, 5);
  EXPECT_FALSE(result.verdicts[0].holds);
  EXPECT_THAT(result.verdicts[0].median, Gt(1.3));
  EXPECT_THAT(result.entries[1].ns, Each(testing::Ge(delay_ns)));
}

// An implementation whose results are wrong on one rank.
class Wrong : public Implementation {
 public:
  void run(const RankContext&, int) override {}
  bool is_right(const RankContext& here) override { return here.rank != 1; }
};

std::string failure_of(const Comparison& comparison) {
  try {
    hold_quietly(comparison, 2);
  } catch (const FailureError& error) {
    return error.what();
  }
  return "none";
}

TEST(Hold, TimesNothingIfAResultIsWrong) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("good", std::make_unique<Spender>(10)));
  comparison.entries.push_back(entry("bad", std::make_unique<Wrong>()));
  EXPECT_EQ(failure_of(comparison), "rank 1: trial: bad: the result is wrong");
}

struct NoBarrier {
  void build(const RankContext&) {}
  void pass(const RankContext& here) {
    if (here.rank == 1) spend(1000);
  }
};

TEST(Hold, FindsABarrierThatDoesNotSynchronize) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("none", barrier_implementation(2, NoBarrier())));
  EXPECT_THAT(failure_of(comparison), HasSubstr("none: the result is wrong"));
}

class Dying : public Implementation {
 public:
  void run(const RankContext& here, int) override {
    if (here.rank == 1) raise(SIGKILL);
  }
};

TEST(Hold, ReportsTheRankThatDied) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("dies", std::make_unique<Dying>()));
  EXPECT_EQ(failure_of(comparison), "rank 1: Killed");
}

TEST(Hold, StopsAfterATurnAndKeepsCompleteRounds) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("a", std::make_unique<Spender>(1e6)));
  comparison.entries.push_back(entry("b", std::make_unique<Spender>(1e6)));
  comparison.judgements = {{.what = "a", .subject = 0, .rivals = {1}, .bar = {}}};
  std::atomic<bool> stop{false};
  Listener listener;
  listener.on_advance = [&](double share) { stop = share > 0; };
  constexpr int never_so_many = 100'000;
  const Result result = run_comparison(comparison, {test_machine(), never_so_many}, listener, stop);
  EXPECT_LT(result.rounds, never_so_many);
  EXPECT_THAT(result.entries[0].ns, SizeIs(result.rounds));
  EXPECT_THAT(result.verdicts, SizeIs(result.rounds == 0 ? 0 : 1));
  EXPECT_GT(listener.times, 0);
  EXPECT_GT(listener.last, 0);
}

TEST(Hold, HasNoVerdictIfStoppedBeforeTheFirstRound) {
  Comparison comparison = comparison_of();
  comparison.entries.push_back(entry("a", std::make_unique<Spender>(1e5)));
  comparison.judgements = {{.what = "a", .subject = 0, .rivals = {0}, .bar = {}}};
  const std::atomic<bool> stop{true};
  Listener listener;
  const Result result = run_comparison(comparison, {test_machine(), 1000}, listener, stop);
  EXPECT_LT(result.rounds, 1000);
  EXPECT_EQ(result.verdicts.size(), result.rounds == 0 ? 0U : 1U);
}

}  // namespace
}  // namespace huddle::bench
