// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/context/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "litmus.h"

namespace huddle::check::checker {
namespace {

context::Doorbell bell_of(int owner) { return {line(owner, 0), line(owner, 1), just_below_wrap}; }

// In each round, rank 0 copies a payload and rings, and the other ranks sleep until then. Rank 0
// waits for their acknowledgement flags before the next round.
Job ringing(int ranks, std::size_t rounds) {
  Job job = litmus(ranks, [rounds](CheckedContext& ctx) {
    for (std::size_t i = 0; i < rounds; ++i) {
      const context::Sequence round = just_below_wrap + 1 + static_cast<context::Sequence>(i);
      if (ctx.rank() == 0) {
        ctx.copy(line(0, 2), input_of(0) + 8 * i, 8, plain);
        context::ring(ctx, bell_of(0), round);
        for (int other = 1; other < ctx.ranks(); ++other) {
          ctx.wait(line(other, 3), context::until_reached(round));
        }
      } else {
        context::sleep_until(ctx, bell_of(0), context::until_reached(round));
        ctx.copy(output_of(ctx.rank()) + 8 * i, line(0, 2), 8, plain);
        ctx.store(line(ctx.rank(), 3), round);
      }
    }
  });
  job.first = just_below_wrap;
  job.sizes.input = job.sizes.output = 8 * rounds;
  job.prepare = [](Memory& memory) { fill_inputs(memory); };
  job.verify = [](const Memory& memory) {
    const auto sent = memory.bytes(context::Region::input, 0);
    for (int rank = 1; rank < memory.ranks(); ++rank) {
      const auto got = memory.bytes(context::Region::output, rank);
      if (!std::equal(sent.begin(), sent.end(), got.begin())) return "the payload";
    }
    return "";
  };
  return job;
}

TEST(Doorbell, WakesEverySleeper) {
  for (const StoreOrder order : {StoreOrder::arm, StoreOrder::x86}) {
    EXPECT_TRUE(passes(explore(ringing(2, 2), {.order = order})));
    EXPECT_TRUE(passes(explore(ringing(3, 1), {.order = order})));
  }
  EXPECT_TRUE(sample(ringing(6, 3), 1, 500).passed());
}

// In both directions at once, as neighbours in a dissemination barrier do.
TEST(Doorbell, WorksInBothDirectionsAtOnce) {
  Job job = litmus(2, [](CheckedContext& ctx) {
    for (context::Sequence round = just_below_wrap + 1; round != 2; ++round) {
      context::ring(ctx, bell_of(ctx.rank()), round);
      context::sleep_until(ctx, bell_of(1 - ctx.rank()), context::until_reached(round));
    }
  });
  job.first = just_below_wrap;
  EXPECT_TRUE(passes(explore(job)));
}

TEST(Doorbell, EveryOperationIsNeeded) {
  const std::vector<Job> jobs = {ringing(2, 3), ringing(3, 1)};
  const std::string too_many = "one wake-up too many, never one too few";
  const std::string order = "the count orders nothing: the fences do";
  SurveyOptions options;
  options.excuses = {
      {Fault::one_more, "world.fetch_add(bell.sleepers", too_many},
      {Fault::dropped, "world.fetch_sub(bell.sleepers", too_many},
      {Fault::one_more, "world.fetch_sub(bell.sleepers", too_many},
      {Fault::wrong_owner, "world.fetch_sub(bell.sleepers", too_many},
      {Fault::relaxed, "world.fetch_add(bell.sleepers", order},
      {Fault::relaxed, "world.fetch_sub(bell.sleepers", order},
      {Fault::relaxed, "world.load(bell.sleepers)", order},
  };
  const Survey found = survey(jobs, options);
  EXPECT_TRUE(found.passed()) << text_of(found);
  EXPECT_GE(found.caught.size(), 25U);
}

}  // namespace
}  // namespace huddle::check::checker
