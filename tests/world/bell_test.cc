// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/bell.h"

#include <gtest/gtest.h>

#include "litmus.h"

namespace huddle::world::checker {
namespace {

constexpr Bell bell_of(int owner) { return {line(owner, 0), line(owner, 1), just_below_wrap}; }

// Rank 0 rings, the others sleep until then, for some rounds; in each a payload is handed on, and
// given back by flags that are waited for.
Job ringing(int ranks, Sequence rounds) {
  Job job = litmus(ranks, [rounds](CheckerWorld& w) {
    for (Sequence round = just_below_wrap + 1; round != just_below_wrap + 1 + rounds; ++round) {
      if (w.rank() == 0) {
        w.copy(line(0, 2), input_of(0), 8, plain);
        ring(w, bell_of(0), round);
        for (int other = 1; other < w.ranks(); ++other) {
          w.wait(line(other, 3), until_reached(round));
        }
      } else {
        sleep_until(w, bell_of(0), until_reached(round));
        w.copy(output_of(w.rank()), line(0, 2), 8, plain);
        w.store(line(w.rank(), 3), round);
      }
    }
  });
  job.first = just_below_wrap;
  return job;
}

TEST(Bell, WakesEverySleeper) {
  for (const StoreOrder order : {StoreOrder::arm, StoreOrder::x86}) {
    EXPECT_TRUE(passes(explore(ringing(2, 2), {.order = order})));
    EXPECT_TRUE(passes(explore(ringing(3, 1), {.order = order})));
  }
  EXPECT_TRUE(sample(ringing(6, 3), 1, 500).passed());
}

// Both ways at once, as neighbours in a dissemination barrier do.
TEST(Bell, WorksBothWays) {
  Job job = litmus(2, [](CheckerWorld& w) {
    for (Sequence round = just_below_wrap + 1; round != 2; ++round) {
      ring(w, bell_of(w.rank()), round);
      sleep_until(w, bell_of(1 - w.rank()), until_reached(round));
    }
  });
  job.first = just_below_wrap;
  EXPECT_TRUE(passes(explore(job)));
}

TEST(Bell, NeedsEveryPartOfIt) {
  const std::vector<Job> jobs = {ringing(2, 2), ringing(3, 1)};
  SurveyOptions options;
  options.excuses = {
      {Fault::relaxed, "world.fetch_add(bell.sleepers", "the count orders nothing: fences do"},
      {Fault::relaxed, "world.fetch_sub(bell.sleepers", "the count orders nothing: fences do"},
      {Fault::relaxed, "world.load(bell.sleepers)", "the count orders nothing: fences do"},
  };
  const Survey found = survey(jobs, options);
  EXPECT_TRUE(found.passed()) << text_of(found);
  EXPECT_GE(found.caught.size(), 25U);
}

}  // namespace
}  // namespace huddle::world::checker
