// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests which states the search reaches, what counts as a failure, and how a failure is repeated.
#include "check/checker/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "common/error.h"
#include "litmus.h"

namespace huddle::check::checker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Fails in some interleavings only: the second rank may load before the store is visible.
Job sometimes_wrong() {
  return litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) ctx.store(line(0, 0), 1);
    if (ctx.rank() == 1 && ctx.load(line(0, 0)) == 0) throw std::runtime_error("came too early");
  });
}

TEST(Explore, TriesEveryOrderOfTwoRanks) {
  std::set<std::vector<int>> orders;
  auto order = std::make_shared<std::vector<int>>();
  Job job = litmus(2, [order](CheckedContext& ctx) {
    for (int i = 0; i < 2; ++i) {
      ctx.fetch_add(line(0, 0), 1);
      order->push_back(ctx.rank());
    }
  });
  job.verify = [&](const Memory&) {
    orders.insert(*order);
    order->clear();
    return "";
  };
  // Every order counts here, so this uses sample(), which does not stop at known states.
  for (std::uint64_t seed = 0; seed < 100; ++seed) EXPECT_TRUE(sample(job, seed, 1).passed());
  EXPECT_EQ(orders.size(), 6U);  // 4 choose 2
}

TEST(Explore, LargerBudgetFindsMore) {
  // Rank 1 must load between the two stores, so rank 0 is preempted once.
  bool seen = false;
  const Job job = litmus(2, [&seen](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store(line(0, 0), 1);
      ctx.store(line(0, 0), 2);
    } else {
      seen = ctx.load(line(0, 0)) == 1;
    }
  });
  EXPECT_FALSE(can_happen(job, [&] { return seen; }, {.budget = 0}));
  EXPECT_TRUE(can_happen(job, [&] { return seen; }, {.budget = 1}));
}

TEST(Explore, ReportsStatesAndWhetherTheyAreExhausted) {
  const Job job = litmus(3, [](CheckedContext& ctx) {
    for (context::Sequence i = 1; i <= 3; ++i) {
      ctx.store(line(ctx.rank(), 0), i);
      ctx.wait(line((ctx.rank() + 1) % 3, 0), context::until_reached(i));
    }
  });
  const Result all = explore(job);
  EXPECT_TRUE(passes(all));
  EXPECT_GT(all.states, 100U);
  EXPECT_THAT(text_of(all), HasSubstr(", exhausted"));
  const Result some = explore(job, {.max_executions = 10});
  EXPECT_TRUE(some.passed());
  EXPECT_EQ(some.executions, 10U);
  EXPECT_THAT(text_of(some), HasSubstr("not exhausted"));
}

TEST(Explore, IsDeterministic) {
  const auto first = explore(sometimes_wrong());
  const auto second = explore(sometimes_wrong());
  ASSERT_FALSE(first.passed());
  EXPECT_EQ(text_of(first), text_of(second));
}

TEST(Failures, ReplayRepeatsFailureOfSearch) {
  const Result found = explore(sometimes_wrong());
  ASSERT_TRUE(fails_with(found, "rank 1 threw: came too early"));
  const Result again = replay(sometimes_wrong(), found.failure->choices);
  ASSERT_FALSE(again.passed());
  EXPECT_EQ(again.failure->what, found.failure->what);
  EXPECT_EQ(again.failure->trace, found.failure->trace);
  EXPECT_EQ(again.executions, 1U);
}

TEST(Failures, SeedAndReplayRepeatFailureOfSample) {
  const Result found = sample(sometimes_wrong(), 7, 1000);
  ASSERT_FALSE(found.passed());
  EXPECT_EQ(text_of(sample(sometimes_wrong(), 7, 1000)), text_of(found));
  EXPECT_FALSE(replay(sometimes_wrong(), found.failure->choices).passed());
}

TEST(Failures, ReplayRejectsChoicesOfAnotherJob) {
  EXPECT_THROW(replay(sometimes_wrong(), "0:17 "), InputError);
  EXPECT_THROW(replay(sometimes_wrong(), "nonsense"), InputError);
}

TEST(Failures, ReportOperationsAndSourceLines) {
  const Result found = explore(litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) ctx.copy(line(1, 1), input_of(0), 8, plain);
    if (ctx.rank() == 1) ctx.copy(output_of(1), line(1, 1) + 4, 8, plain);
  }));
  ASSERT_TRUE(fails_with(found, "a race at shared of 1 at 68"));
  EXPECT_THAT(found.failure->what, HasSubstr("checker_explore_test.cc:"));
  EXPECT_THAT(found.failure->trace,
              HasSubstr("copies input of 0 at 0..7 to shared of 1 at 64..71"));
}

TEST(Failures, StallReportsWhatRanksWaitFor) {
  const Result found = explore(litmus(2, [](CheckedContext& ctx) {
    ctx.wait(line(1 - ctx.rank(), 0), context::until_reached(static_cast<context::Sequence>(-3)));
    ctx.wait(line(1 - ctx.rank(), 0), context::until_reached(1));
  }));
  ASSERT_FALSE(found.passed());
  EXPECT_THAT(found.failure->what,
              HasSubstr("rank 0 waits for shared of 1 at 0 until it reaches 1 (holds 0)"));
}

TEST(Failures, PollingLoopFails) {
  const Job job = litmus(1, [](CheckedContext& ctx) {
    while (ctx.load(line(0, 0)) == 0) {
    }
  });
  EXPECT_TRUE(fails_with(explore(job, {.max_steps = 1000}), "no end after 1000 operations"));
}

TEST(Failures, WrongResultFails) {
  Job job = litmus(1, [](CheckedContext& ctx) { ctx.store(line(0, 0), 5); });
  job.verify = [](const Memory& memory) {
    return memory.as<const context::Sequence>(context::Region::shared, 0)[0] == 6 ? "" : "no six";
  };
  EXPECT_TRUE(fails_with(explore(job), "the result is wrong: no six"));
}

TEST(Failures, NondeterministicBodyIsAnError) {
  int runs = 0;
  const Job job = litmus(2, [&runs](CheckedContext& ctx) {
    if (ctx.rank() == 0 && ++runs % 2 == 0) return;
    for (context::Sequence i = 1; i <= 2; ++i) ctx.store(line(ctx.rank(), 0), i);
  });
  EXPECT_THROW(explore(job), UsageError);
}

// Runs one operation, on rank 0 of two ranks.
Result alone(const std::function<void(CheckedContext&)>& operation) {
  return explore(litmus(2, [operation](CheckedContext& ctx) {
    if (ctx.rank() == 0) operation(ctx);
  }));
}

TEST(Reach, IsLimitedToExistingMemory) {
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.load(line(0, 4)); }), "out of range"));
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.load(line(2, 0)); }), "there is no rank 2"));
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.load(line(-1, 0)); }), "there is no rank -1"));
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.copy(line(0, 3) + 57, input_of(0), 8, plain); }),
                         "out of range"));
  EXPECT_TRUE(
      fails_with(alone([](auto& ctx) { ctx.prefetch_write(line(0, 3), 65); }), "out of range"));
  EXPECT_TRUE(passes(alone([](auto& ctx) { ctx.copy(line(0, 3) + 56, input_of(0), 8, plain); })));
}

TEST(Reach, ExcludesBuffersOfOtherRanks) {
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.copy(line(0, 0), input_of(1), 8, plain); }),
                         "input of 1 at 0..7 is out of rank 0's reach"));
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.copy(output_of(1), line(0, 0), 8, plain); }),
                         "out of rank 0's reach"));
}

TEST(Reach, FlagsMustBeAlignedInSharedMemory) {
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.store(line(0, 0) + 2, 1); }), "aligned"));
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.store(input_of(0), 1); }), "shared memory"));
}

TEST(Copies, MustNotOverlap) {
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.copy(line(0, 0), line(0, 0) + 7, 8, plain); }),
                         "overlap"));
  EXPECT_TRUE(passes(alone([](auto& ctx) { ctx.copy(line(0, 0), line(0, 0) + 8, 8, plain); })));
  EXPECT_TRUE(passes(alone([](auto& ctx) { ctx.copy(line(0, 0), line(0, 0), 0, plain); })));
}

void subtract(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<int*>(to)[i] = static_cast<const int*>(left)[i] - static_cast<const int*>(right)[i];
  }
}
constexpr memory::Reduction difference{subtract, nullptr, sizeof(int), false};

TEST(Reductions, StoreResultOfOperator) {
  Job job = litmus(1, [](CheckedContext& ctx) {
    ctx.reduce(output_of(0), input_of(0), input_of(0) + 4, 1, difference);
    ctx.reduce(output_of(0), output_of(0), input_of(0), 1, difference);
  });
  job.prepare = [](Memory& memory) {
    memory.as<int>(context::Region::input, 0)[0] = 10;
    memory.as<int>(context::Region::input, 0)[1] = 3;
  };
  job.verify = [](const Memory& memory) {
    return memory.as<const int>(context::Region::output, 0)[0] == 10 - 3 - 10 ? "" : "wrong";
  };
  EXPECT_TRUE(passes(explore(job)));
  EXPECT_TRUE(fails_with(
      alone([](auto& ctx) { ctx.reduce(line(0, 0), line(0, 0) + 4, line(0, 1), 2, difference); }),
      "overlap"));
}

TEST(WaitAny, ReturnsEverySatisfiedFlagInSomeExecution) {
  std::set<int> seen;
  Job job = litmus(3, [&seen](CheckedContext& ctx) {
    if (ctx.rank() > 0) {
      ctx.store(line(ctx.rank(), 0), 1);
    } else {
      const std::vector<context::AwaitedFlag> flags = {{line(1, 0), context::until_equal(1)},
                                                       {line(2, 0), context::until_reached(1)}};
      seen.insert(ctx.wait_any(flags));
    }
  });
  EXPECT_TRUE(passes(explore(job, {.budget = 0})));
  EXPECT_THAT(seen, ElementsAre(0, 1));
}

TEST(WaitAny, FailsWithoutFlags) {
  EXPECT_TRUE(fails_with(alone([](auto& ctx) { ctx.wait_any({}); }), "waits for any of no flags"));
}

TEST(WaitAll, ReturnsWhenAllFlagsAreSatisfied) {
  EXPECT_TRUE(passes(explore(litmus(3, [](CheckedContext& ctx) {
    if (ctx.rank() > 0) {
      ctx.copy(line(ctx.rank(), 1), input_of(ctx.rank()), 8, plain);
      ctx.store(line(ctx.rank(), 0), 1);
    } else {
      const std::vector<context::Address> flags = {line(1, 0), line(2, 0)};
      ctx.wait_all(flags, context::until_reached(1));
      ctx.copy(output_of(0), line(1, 1), 8, plain);
      ctx.copy(output_of(0), line(2, 1), 8, plain);
    }
  }))));
}

// This count and the sanitizers check that ranks release their resources in every case.
TEST(Executions, ReleaseResourcesOfRanks) {
  int alive = 0;
  struct Counted {
    explicit Counted(int& n) : count(n) { ++count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
    int& count;
  };
  const Job job = litmus(3, [&alive](CheckedContext& ctx) {
    const Counted counted(alive);
    const std::vector<int> owned(100);
    ctx.store(line(ctx.rank(), 0), 1);
    ctx.wait(line((ctx.rank() + 1) % 3, 0), context::until_reached(1));
    if (ctx.rank() == 2) throw std::runtime_error("ends badly");
    ctx.wait(line(0, 1), context::until_reached(1));
  });
  EXPECT_FALSE(explore(job).passed());
  EXPECT_FALSE(sample(job, 1, 10).passed());
  EXPECT_EQ(alive, 0);
}

TEST(Sample, SupportsManyRanks) {
  Job job = litmus(17, [](CheckedContext& ctx) {
    for (context::Sequence i = 1; i <= 3; ++i) {
      ctx.copy(line(ctx.rank(), 1), input_of(ctx.rank()), 8, plain);
      ctx.store(line(ctx.rank(), 0), i);
      for (int other = 0; other < ctx.ranks(); ++other) {
        ctx.wait(line(other, 0), context::until_reached(i));
        ctx.copy(output_of(ctx.rank()), line(other, 1), 8, plain);
      }
      ctx.fetch_add(line(0, 2), 1);
      ctx.wait(line(0, 2), context::until_reached(17 * i));
    }
  });
  EXPECT_TRUE(sample(job, 1, 50).passed());
}

}  // namespace
}  // namespace huddle::check::checker
