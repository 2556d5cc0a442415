// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The harness itself: what it counts, and that it finds what was planted. How fast anything is, is
// no business of a test.
#include "contest/hold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "calibrate/clock.h"
#include "contest/bare_flags.h"
#include "contest/barriers.h"
#include "contest/team_calls.h"
#include "terms.h"

namespace huddle::contest {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

void spend(double ns) {
  const double until = calibrate::now_ns() + ns;
  while (calibrate::now_ns() < until) continue;
}

// Takes so long, on every rank.
class Spender : public Contender {
 public:
  explicit Spender(double ns) : ns_(ns) {}
  void run(const Here&, int calls) override {
    for (int call = 0; call < calls; ++call) spend(ns_);
  }
  std::string how(const Here&) override { return "slowly"; }

 private:
  double ns_;
};

// Another contender, and so much on top of each call.
class Slowed : public Contender {
 public:
  Slowed(std::unique_ptr<Contender> slowed, double ns) : slowed_(std::move(slowed)), ns_(ns) {}
  void set_up(const Here& here) override { slowed_->set_up(here); }
  void run(const Here& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      spend(ns_);
      slowed_->run(here, 1);
    }
  }
  bool is_right(const Here& here) override { return slowed_->is_right(here); }

 private:
  std::unique_ptr<Contender> slowed_;
  double ns_;
};

Contest contest_of(int ranks = 2) {
  return {.name = "trial", .seating = {ranks, test_pus()}, .entries = {}, .judgements = {}};
}

Entry entry(const char* name, std::unique_ptr<Contender> contender, int calls = 1,
            int stretches = 3) {
  return {.name = name, .contender = std::move(contender), .calls = calls, .stretches = stretches};
}

TEST(Hold, GivesEachEntryOneFigureARound) {
  Contest contest = contest_of(3);
  contest.entries.push_back(entry("a", std::make_unique<Spender>(1000), 5));
  contest.entries.push_back(entry("b", std::make_unique<Spender>(1000)));
  contest.entries[1].predicted_ns = 47;
  const Result result = hold_quietly(contest, 4);
  EXPECT_EQ(result.rounds, 4);
  ASSERT_THAT(result.entries, SizeIs(2));
  EXPECT_EQ(result.entries[0].name, "a");
  EXPECT_EQ(result.entries[0].how, "slowly");
  EXPECT_EQ(result.entries[0].calls, 5);
  EXPECT_EQ(result.entries[1].predicted_ns, 47);
  for (const EntryResult& one : result.entries) {
    // A call lasts as long as it spends, whatever the number of calls in a stretch.
    EXPECT_THAT(one.ns, testing::AllOf(SizeIs(4), Each(testing::Ge(1000))));
  }
}

TEST(Hold, FindsAPlantedFactor) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("slow", std::make_unique<Spender>(60000), 1, 15));
  contest.entries.push_back(entry("fast", std::make_unique<Spender>(20000), 1, 15));
  contest.judgements = {{.what = "slow against fast",
                         .subject = 0,
                         .rivals = {1},
                         .bar = {Bar::Kind::time_at_most, 2}}};
  const Result result = hold_quietly(contest, 7);
  ASSERT_THAT(result.verdicts, SizeIs(1));
  EXPECT_FALSE(result.verdicts[0].holds);
  // Ranks that share a core spend at the same time: the clock goes on for both.
  EXPECT_NEAR(result.verdicts[0].median, 3, 1);
}

// The same code on both sides, with a delay planted on one.
TEST(Hold, FindsAPlantedDelayInABarrier) {
  constexpr int ranks = 2;
  constexpr double delay_ns = 200'000;
  Contest contest = contest_of(ranks);
  const auto barrier = [] { return barrier_contender(ranks, TeamBarrier()); };
  contest.entries.push_back(entry("plain", barrier(), 10));
  contest.entries.push_back(entry("slowed", std::make_unique<Slowed>(barrier(), delay_ns), 10));
  contest.judgements = {
      {.what = "slowed", .subject = 1, .rivals = {0}, .bar = {Bar::Kind::time_at_most, 1.3}}};
  const Result result = hold_quietly(contest, 5);
  EXPECT_FALSE(result.verdicts[0].holds);
  EXPECT_THAT(result.verdicts[0].median, Gt(1.3));
  EXPECT_THAT(result.entries[1].ns, Each(testing::Ge(delay_ns)));
}

// What a thing is that cannot be trusted: it says that it is wrong on one rank.
class Wrong : public Contender {
 public:
  void run(const Here&, int) override {}
  bool is_right(const Here& here) override { return here.rank != 1; }
};

std::string failure_of(const Contest& contest) {
  try {
    hold_quietly(contest, 2);
  } catch (const FailureError& error) {
    return error.what();
  }
  return "none";
}

TEST(Hold, TimesNothingThatIsWrong) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("good", std::make_unique<Spender>(10)));
  contest.entries.push_back(entry("bad", std::make_unique<Wrong>()));
  EXPECT_EQ(failure_of(contest), "rank 1: trial: bad: the result is wrong");
}

struct NoBarrier {
  void build(const Here&) {}
  void pass(const Here& here) {
    if (here.rank == 1) spend(1000);
  }
};

TEST(Hold, FindsABarrierThatIsNone) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("none", barrier_contender(2, NoBarrier())));
  EXPECT_THAT(failure_of(contest), HasSubstr("none: the result is wrong"));
}

class Dying : public Contender {
 public:
  void run(const Here& here, int) override {
    if (here.rank == 1) raise(SIGKILL);
  }
};

TEST(Hold, SaysWhoDied) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("dies", std::make_unique<Dying>()));
  EXPECT_EQ(failure_of(contest), "rank 1: Killed");
}

TEST(Hold, StopsAfterATurnAndKeepsWholeRounds) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("a", std::make_unique<Spender>(1e6)));
  contest.entries.push_back(entry("b", std::make_unique<Spender>(1e6)));
  contest.judgements = {{.what = "a", .subject = 0, .rivals = {1}, .bar = {}}};
  std::atomic<bool> stop{false};
  Listener listener;
  listener.on_advance = [&](double share) { stop = share > 0; };
  constexpr int never_so_many = 100'000;
  const Result result = hold(contest, {test_machine(), never_so_many}, listener, stop);
  EXPECT_LT(result.rounds, never_so_many);
  EXPECT_THAT(result.entries[0].ns, SizeIs(result.rounds));
  EXPECT_THAT(result.verdicts, SizeIs(result.rounds == 0 ? 0 : 1));
  EXPECT_GT(listener.times, 0);
  EXPECT_GT(listener.last, 0);
}

TEST(Hold, StoppedBeforeItBeginsItHasNoVerdict) {
  Contest contest = contest_of();
  contest.entries.push_back(entry("a", std::make_unique<Spender>(1e5)));
  contest.judgements = {{.what = "a", .subject = 0, .rivals = {0}, .bar = {}}};
  const std::atomic<bool> stop{true};
  Listener listener;
  const Result result = hold(contest, {test_machine(), 1000}, listener, stop);
  EXPECT_LT(result.rounds, 1000);
  EXPECT_EQ(result.verdicts.size(), result.rounds == 0 ? 0U : 1U);
}

}  // namespace
}  // namespace huddle::contest
