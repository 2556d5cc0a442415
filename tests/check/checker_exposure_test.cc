// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests that accesses to exposed memory are checked like those to shared memory: changing it while
// a peer reads and reading it before it is exposed are races.
#include "litmus.h"

namespace huddle::check::checker {
namespace {

struct Steps {
  bool waits_for_exposure = true;
  bool waits_for_reader = true;
  bool exposes = true;
  bool was_stored_past_caches = false;
  bool orders_that = true;
};

// Rank 0 exposes its input and changes it after rank 1 has read it.
Job exposing(const Steps& steps) {
  Job job = litmus(2, [steps](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      if (steps.was_stored_past_caches) ctx.store_as_caller(input_of(0), 8);
      if (steps.exposes) ctx.expose(line(0, 1), input_of(0));
      if (steps.orders_that) ctx.order_callers_stores();
      ctx.store(line(0, 0), 1);
      if (steps.waits_for_reader) ctx.wait(line(1, 0), context::until_reached(1));
      ctx.copy(input_of(0), context::Address{context::Region::scratch, 0, 0}, 8, plain);
      return;
    }
    if (steps.waits_for_exposure) ctx.wait(line(0, 0), context::until_reached(1));
    if (ctx.pull(output_of(1), line(0, 1), 2, 6) != single_copy::fine) return;
    ctx.store(line(1, 0), 1);
  });
  job.prepare = fill_inputs;
  job.verify = [](const Memory& memory) {
    const bool came = memory.bytes(context::Region::output, 1)[0] == std::byte{3};
    return came ? "" : "it did not come";
  };
  return job;
}

TEST(CheckerPull, CopiesExposedData) { EXPECT_TRUE(passes(explore(exposing({})))); }

TEST(CheckerPull, ReadBeforeExposureRaces) {
  EXPECT_TRUE(
      fails_with(explore(exposing({.waits_for_exposure = false})), "a race at shared of 0 at 64"));
}

TEST(CheckerPull, WriteDuringPullRaces) {
  EXPECT_TRUE(
      fails_with(explore(exposing({.waits_for_reader = false})), "a race at input of 0 at 2"));
}

// A release store does not order non-temporal stores.
TEST(CheckerPull, UnorderedNontemporalStoresOfCallerRace) {
  EXPECT_TRUE(passes(explore(exposing({.was_stored_past_caches = true}))));
  EXPECT_TRUE(fails_with(explore(exposing({.was_stored_past_caches = true, .orders_that = false})),
                         "a race at input of 0 at 2"));
}

// A rank sees its own stores in order, so a copy through shared memory needs no ordering.
TEST(CheckerPull, CopyByOwnerIsOrdered) {
  Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store_as_caller(input_of(0), 8);
      ctx.copy(line(0, 1), input_of(0), 8, plain);
      ctx.store(line(0, 0), 1);
      return;
    }
    ctx.wait(line(0, 0), context::until_reached(1));
    ctx.copy(output_of(1), line(0, 1), 8, plain);
  });
  job.prepare = fill_inputs;
  EXPECT_TRUE(passes(explore(job)));
}

TEST(CheckerPull, FailsIfNothingIsExposed) {
  EXPECT_TRUE(fails_with(explore(exposing({.exposes = false})), "exposes nothing"));
}

TEST(CheckerPull, IsLimitedToMemoryOfOwner) {
  EXPECT_TRUE(fails_with(explore(litmus(2,
                                        [](CheckedContext& ctx) {
                                          if (ctx.rank() == 0) {
                                            ctx.expose(line(0, 1), input_of(0));
                                            ctx.store(line(0, 0), 1);
                                            return;
                                          }
                                          ctx.wait(line(0, 0), context::until_reached(1));
                                          ctx.pull(output_of(1), line(0, 1), 4, 8);
                                        })),
                         "out of range"));
}

TEST(CheckerPull, OnlyOwnMemoryCanBeExposed) {
  EXPECT_TRUE(fails_with(explore(litmus(2,
                                        [](CheckedContext& ctx) {
                                          if (ctx.rank() == 0) ctx.expose(line(0, 1), input_of(1));
                                        })),
                         "not its own"));
}

struct PushSteps {
  bool waits_for_exposure = true;
  bool waits_for_writer = true;
  bool was_stored_past_caches = false;
  bool orders_that = true;
};

// Rank 0 exposes its output; rank 1 writes to it, and rank 0 reads it afterwards.
Job pushing(const PushSteps& steps) {
  Job job = litmus(2, [steps](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(output_of(0), input_of(0), 8, plain);
      if (steps.was_stored_past_caches) ctx.store_as_caller(output_of(0), 8);
      ctx.expose(line(0, 1), output_of(0));
      if (steps.orders_that) ctx.order_callers_stores();
      ctx.store(line(0, 0), 1);
      if (steps.waits_for_writer) ctx.wait(line(1, 0), context::until_reached(1));
      ctx.copy(context::Address{context::Region::scratch, 0, 0}, output_of(0), 8, plain);
      return;
    }
    if (steps.waits_for_exposure) ctx.wait(line(0, 0), context::until_reached(1));
    if (ctx.push(line(0, 1), 2, input_of(1), 6) != single_copy::fine) return;
    ctx.store(line(1, 0), 1);
  });
  job.prepare = fill_inputs;
  job.verify = [](const Memory& memory) {
    const auto first_there = memory.bytes(context::Region::scratch, 0)[2];
    return first_there == memory.bytes(context::Region::input, 1)[0] ? "" : "it did not come";
  };
  return job;
}

TEST(CheckerPush, WritesToExposedMemory) { EXPECT_TRUE(passes(explore(pushing({})))); }

TEST(CheckerPush, WriteBeforeExposureRaces) {
  EXPECT_TRUE(
      fails_with(explore(pushing({.waits_for_exposure = false})), "a race at shared of 0 at 64"));
}

TEST(CheckerPush, ReadDuringPushRaces) {
  EXPECT_TRUE(
      fails_with(explore(pushing({.waits_for_writer = false})), "a race at output of 0 at 2"));
}

// The caller's earlier stores could overwrite the data that was pushed.
TEST(CheckerPush, UnorderedNontemporalStoresOfCallerRace) {
  EXPECT_TRUE(passes(explore(pushing({.was_stored_past_caches = true}))));
  EXPECT_TRUE(fails_with(explore(pushing({.was_stored_past_caches = true, .orders_that = false})),
                         "a race at output of 0 at 2"));
}

TEST(CheckerPush, ConcurrentPushesToSameBytesRace) {
  EXPECT_TRUE(fails_with(explore(litmus(3,
                                        [](CheckedContext& ctx) {
                                          if (ctx.rank() == 0) {
                                            ctx.expose(line(0, 1), output_of(0));
                                            ctx.store(line(0, 0), 1);
                                            return;
                                          }
                                          ctx.wait(line(0, 0), context::until_reached(1));
                                          ctx.push(line(0, 1), 2, input_of(ctx.rank()), 2);
                                        })),
                         "a race at output of 0 at 2"));
}

TEST(CheckerPush, IsLimitedToMemoryOfOwner) {
  EXPECT_TRUE(fails_with(explore(litmus(2,
                                        [](CheckedContext& ctx) {
                                          if (ctx.rank() == 0) {
                                            ctx.expose(line(0, 1), output_of(0));
                                            ctx.store(line(0, 0), 1);
                                            return;
                                          }
                                          ctx.wait(line(0, 0), context::until_reached(1));
                                          ctx.push(line(0, 1), 4, input_of(1), 8);
                                        })),
                         "out of range"));
}

// If the job allows it, a pull fails in some execution, copies nothing and returns an error;
// otherwise it never fails.
TEST(CheckerPull, FailsIfJobAllowsIt) {
  Job job = exposing({.waits_for_reader = false});
  job.body = [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.expose(line(0, 1), input_of(0));
      ctx.store(line(0, 0), 1);
      return;
    }
    ctx.wait(line(0, 0), context::until_reached(1));
    const bool came = ctx.pull(output_of(1), line(0, 1), 2, 6) == single_copy::fine;
    EXPECT_EQ(ctx.path_failures(), came ? 0 : 1);
  };
  EXPECT_TRUE(passes(explore(job)));
  job.paths_may_fail = true;
  EXPECT_TRUE(fails_with(explore(job), "it did not come"));
}

}  // namespace
}  // namespace huddle::check::checker
