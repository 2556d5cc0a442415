// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Litmus tests of the memory model: the checker finds all possible outcomes and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "litmus.h"

namespace huddle::check::checker {
namespace {

// Returns options that weaken one operation of the job, to test that its ordering is needed.
Options with(const Job& job, Operation operation, Fault fault) {
  Options options;
  for (const Mutation& mutation : mutations_of(job)) {
    if (mutation.site.operation == operation && mutation.fault == fault)
      options.mutation = mutation;
  }
  EXPECT_TRUE(options.mutation.has_value());
  return options;
}

Options on_x86(Options options = {}) {
  options.order = StoreOrder::x86;
  return options;
}

Job message_passing(memory::CopyKernel kernel = plain) {
  return litmus(2, [kernel](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(line(0, 1), input_of(0), 8, kernel);
      ctx.store(line(0, 0), 1);
    } else {
      ctx.wait(line(0, 0), context::until_reached(1));
      ctx.copy(output_of(1), line(0, 1), 8, plain);
    }
  });
}

TEST(MessagePassing, IsCorrectWithReleaseAndAcquire) {
  EXPECT_TRUE(passes(explore(message_passing())));
  EXPECT_TRUE(passes(explore(message_passing(), on_x86())));
}

// Taking ownership of data that another rank reads concurrently is a race. A single reader may take
// ownership without further ordering.
TEST(MessagePassing, TwoReadersTakingOwnershipRace) {
  const auto passing = [](int takers) {
    return litmus(1 + takers, [](CheckedContext& ctx) {
      if (ctx.rank() == 0) {
        ctx.copy(line(0, 1), input_of(0), 8, plain);
        ctx.store(line(0, 0), 1);
      } else {
        ctx.wait(line(0, 0), context::until_reached(1));
        ctx.copy_and_own(output_of(ctx.rank()), line(0, 1), 8);
      }
    });
  };
  EXPECT_TRUE(passes(explore(passing(1))));
  EXPECT_TRUE(passes(explore(passing(1), on_x86())));
  EXPECT_TRUE(fails_with(explore(passing(2)), "a race at"));
}

TEST(MessagePassing, RacesWithoutRelease) {
  const Job job = message_passing();
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::store, Fault::relaxed)), "a race at"));
}

TEST(MessagePassing, RacesWithoutAcquire) {
  const Job job = message_passing();
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::wait, Fault::relaxed)), "a race at"));
}

TEST(MessagePassing, RacesWithoutWaiting) {
  const Job job = message_passing();
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::wait, Fault::dropped)), "a race at"));
}

TEST(MessagePassing, NontemporalCopyNeedsFence) {
  const Job job = message_passing(nontemporal);
  EXPECT_TRUE(passes(explore(job)));
  const Options options = with(job, Operation::copy, Fault::unfenced);
  EXPECT_TRUE(fails_with(explore(job, options), "a race at"));
  EXPECT_TRUE(fails_with(explore(job, on_x86(options)), "a race at"));
}

TEST(MessagePassing, FullFenceOrdersUnfencedStores) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(line(0, 1), input_of(0), 8, nontemporal);
      ctx.fence();
      ctx.store(line(0, 0), 1);
    } else {
      ctx.wait(line(0, 0), context::until_reached(1));
      ctx.copy(output_of(1), line(0, 1), 8, plain);
    }
  });
  EXPECT_TRUE(passes(explore(job, with(job, Operation::copy, Fault::unfenced))));
  EXPECT_TRUE(passes(explore(job, with(job, Operation::store, Fault::relaxed))));
}

TEST(MessagePassing, IsTransitive) {
  const Job job = litmus(3, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(line(0, 1), input_of(0), 8, plain);
      ctx.store(line(0, 0), 1);
    } else if (ctx.rank() == 1) {
      ctx.wait(line(0, 0), context::until_reached(1));
      ctx.store(line(1, 0), 1);
    } else {
      ctx.wait(line(1, 0), context::until_reached(1));
      ctx.copy(output_of(2), line(0, 1), 8, plain);
    }
  });
  EXPECT_TRUE(passes(explore(job)));
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::wait, Fault::relaxed)), "a race at"));
}

// Reuses a buffer, which its reader must have released before.
TEST(MessagePassing, BufferReuseNeedsReleaseAndAcquire) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    for (context::Sequence i = 1; i <= 2; ++i) {
      if (ctx.rank() == 0) {
        ctx.copy(line(0, 1), input_of(0), 8, plain);
        ctx.store(line(0, 0), i);
        ctx.wait(line(1, 0), context::until_reached(i));
      } else {
        ctx.wait(line(0, 0), context::until_reached(i));
        ctx.copy(output_of(1), line(0, 1), 8, plain);
        ctx.store(line(1, 0), i);
      }
    }
  });
  EXPECT_TRUE(passes(explore(job)));
  for (const Fault fault : {Fault::relaxed, Fault::dropped, Fault::too_early}) {
    EXPECT_TRUE(fails_with(explore(job, with(job, Operation::wait, fault)), "a race at"));
  }
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::store, Fault::dropped)),
                         "all ranks are blocked"));
}

// Each rank stores its own flag and loads the other's.
Job dekker(std::array<context::Sequence, 2>& seen, bool fenced) {
  return litmus(2, [&seen, fenced](CheckedContext& ctx) {
    ctx.store(line(ctx.rank(), 0), 1);
    if (fenced) ctx.fence();
    seen[static_cast<std::size_t>(ctx.rank())] = ctx.load(line(1 - ctx.rank(), 0));
  });
}

TEST(StoreBuffering, LetsLoadsPassEarlierStores) {
  std::array<context::Sequence, 2> seen{};
  const auto both_missed = [&] { return seen[0] == 0 && seen[1] == 0; };
  EXPECT_TRUE(can_happen(dekker(seen, false), both_missed));
  EXPECT_TRUE(can_happen(dekker(seen, false), both_missed, on_x86()));
  EXPECT_FALSE(can_happen(dekker(seen, true), both_missed));
  EXPECT_FALSE(can_happen(dekker(seen, true), both_missed, on_x86()));
}

TEST(StoreBuffering, DelaysReadModifyWritesOnArmOnly) {
  std::array<context::Sequence, 2> seen{};
  const Job job = litmus(2, [&seen](CheckedContext& ctx) {
    ctx.fetch_add(line(ctx.rank(), 0), 1);
    seen[static_cast<std::size_t>(ctx.rank())] = ctx.load(line(1 - ctx.rank(), 0));
  });
  const auto both_missed = [&] { return seen[0] == 0 && seen[1] == 0; };
  EXPECT_TRUE(can_happen(job, both_missed));
  EXPECT_FALSE(can_happen(job, both_missed, on_x86()));
}

// Rank 0 loads before its store is visible; rank 1 sees it become visible.
TEST(StoreBuffering, StoreBecomesVisibleAtAnyTime) {
  context::Sequence first = 0;
  Seen2 seen;
  const Job job = litmus(2, [&](CheckedContext& ctx) {
    ctx.store(line(ctx.rank(), 0), 1);
    if (ctx.rank() == 0) {
      first = ctx.load(line(1, 0));
    } else {
      seen.first = ctx.load(line(0, 0));
      seen.second = ctx.load(line(0, 0));
    }
  });
  const auto meanwhile = [&] { return first == 0 && seen.first == 0 && seen.second == 1; };
  EXPECT_TRUE(can_happen(job, meanwhile, {.budget = 1}));
}

TEST(StoreBuffering, RankSeesItsOwnStores) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    ctx.store(line(ctx.rank(), 0), 1);
    ctx.store(line(ctx.rank(), 0), 2);
    if (ctx.load(line(ctx.rank(), 0)) != 2) throw std::runtime_error("lost");
    if (ctx.fetch_add(line(ctx.rank(), 0), 5) != 2) throw std::runtime_error("lost");
  });
  EXPECT_TRUE(passes(explore(job)));
}

// Two stores of one rank to two places, loaded in the opposite order.
TEST(StoreOrders, RelaxedStoresAreReorderedOnArmOnly) {
  Seen2 seen;
  const Job job = litmus(2, [&seen](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store(line(0, 0), 1);
      ctx.store(line(0, 1), 1);
    } else {
      seen.first = ctx.load(line(0, 1));
      seen.second = ctx.load(line(0, 0));
    }
  });
  const auto out_of_order = [&] { return seen.first == 1 && seen.second == 0; };
  EXPECT_FALSE(can_happen(job, out_of_order));
  // mutations_of lists the second store last, so that one is mutated.
  const Options relaxed = with(job, Operation::store, Fault::relaxed);
  EXPECT_TRUE(can_happen(job, out_of_order, relaxed));
  EXPECT_FALSE(can_happen(job, out_of_order, on_x86(relaxed)));
}

TEST(Coherence, StoresToOneFlagAreSeenInOrder) {
  Seen2 seen;
  const Job job = litmus(2, [&seen](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store(line(0, 0), 1);
      ctx.store(line(0, 0), 2);
    } else {
      seen.first = ctx.load(line(0, 0));
      seen.second = ctx.load(line(0, 0));
    }
  });
  const auto backwards = [&] { return seen.first > seen.second; };
  EXPECT_FALSE(can_happen(job, backwards));
  EXPECT_FALSE(can_happen(job, backwards, with(job, Operation::store, Fault::relaxed)));
  EXPECT_TRUE(can_happen(job, [&] { return seen.first == 1 && seen.second == 2; }));
}

// Two readers never disagree on the order of two stores: a visible store is visible to all ranks.
TEST(IndependentReads, OfIndependentWritesAgree) {
  std::array<Seen2, 2> seen{};
  const Job job = litmus(4, [&seen](CheckedContext& ctx) {
    if (ctx.rank() < 2) {
      ctx.store(line(ctx.rank(), 0), 1);
      return;
    }
    const int first = ctx.rank() - 2;
    Seen2& mine = seen[static_cast<std::size_t>(first)];
    mine.first = ctx.load(line(first, 0));
    mine.second = ctx.load(line(1 - first, 0));
  });
  const auto saw_only_first = [](const Seen2& s) { return s.first == 1 && s.second == 0; };
  EXPECT_TRUE(can_happen(job, [&] { return saw_only_first(seen[0]); }));
  EXPECT_FALSE(can_happen(job, [&] { return saw_only_first(seen[0]) && saw_only_first(seen[1]); }));
}

TEST(ReadModifyWrite, LosesNothing) {
  Job job = litmus(3, [](CheckedContext& ctx) {
    ctx.fetch_add(line(0, 0), 2);
    ctx.fetch_sub(line(0, 0), 1);
  });
  job.verify = [](const Memory& memory) {
    return memory.as<const context::Sequence>(context::Region::shared, 0)[0] == 3 ? "" : "lost";
  };
  EXPECT_TRUE(passes(explore(job)));
}

// The last of three ranks to arrive knows what the first two wrote.
Job last_arrival() {
  return litmus(3, [](CheckedContext& ctx) {
    ctx.copy(line(ctx.rank(), 1), input_of(ctx.rank()), 8, plain);
    if (ctx.fetch_add(line(0, 0), 1) != 2) return;
    for (int other = 0; other < 3; ++other)
      ctx.copy(output_of(ctx.rank()), line(other, 1), 8, plain);
  });
}

TEST(ReadModifyWrite, ContinuesReleaseSequence) {
  const Job job = last_arrival();
  EXPECT_TRUE(passes(explore(job)));
  EXPECT_TRUE(fails_with(explore(job, with(job, Operation::fetch_add, Fault::relaxed)), "a race"));
}

TEST(Flags, HaveOneWriter) {
  const Job job = litmus(2, [](CheckedContext& ctx) { ctx.store(line(0, 0), 1); });
  EXPECT_TRUE(fails_with(explore(job), "two writers of the flag shared of 0 at 0"));
}

TEST(Flags, OrderedWritersMayAlternate) {
  EXPECT_TRUE(passes(explore(litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 1) ctx.wait(line(0, 0), context::until_reached(1));
    ctx.store(line(0, 0), static_cast<context::Sequence>(ctx.rank() + 1));
  }))));
}

TEST(Flags, StoreDuringUpdateFails) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) ctx.store(line(0, 0), 0);
    if (ctx.rank() == 1) ctx.fetch_add(line(0, 0), 1);
  });
  EXPECT_TRUE(fails_with(explore(job), "two writers"));
}

TEST(Flags, CopyOverFlagDuringLoadRaces) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) ctx.copy(line(0, 0), input_of(0), 8, plain);
    if (ctx.rank() == 1) ctx.load(line(0, 0));
  });
  EXPECT_TRUE(fails_with(explore(job), "a race at"));
}

// Payload and flag share a line, which is cleared by a copy after all ranks have read it.
TEST(Flags, OrderedDataMayShareBytesWithFlag) {
  Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(line(0, 0) + 4, input_of(0), 8, plain);
      ctx.store(line(0, 0), 1);
      ctx.wait(line(1, 0), context::until_reached(1));
      ctx.copy(line(0, 0), input_of(0), 8, plain);
      ctx.store(line(0, 1), 1);
    } else {
      ctx.wait(line(0, 0), context::until_reached(1));
      ctx.copy(output_of(1), line(0, 0) + 4, 8, plain);
      ctx.store(line(1, 0), 1);
      ctx.wait(line(0, 1), context::until_reached(1));
      if (ctx.load(line(0, 0)) != 0x03030303U) throw std::runtime_error("not cleared");
    }
  });
  job.prepare = [](Memory& memory) {
    for (std::byte& byte : memory.bytes(context::Region::input, 0)) byte = std::byte{3};
  };
  EXPECT_TRUE(passes(explore(job)));
}

TEST(Numbers, CorrectComparisonToleratesWrap) {
  Job job = litmus(2, [](CheckedContext& ctx) {
    for (context::Sequence i = 1; i <= 4; ++i) {
      ctx.store(line(ctx.rank(), 0), just_below_wrap + i);
      ctx.wait(line(1 - ctx.rank(), 0), context::until_reached(just_below_wrap + i));
    }
  });
  job.first = just_below_wrap;
  EXPECT_TRUE(passes(explore(job)));
  const Options plain_compare = with(job, Operation::wait, Fault::plain_compare);
  EXPECT_FALSE(explore(job, plain_compare).passed());
}

// A rank may fall asleep after the other one has woken all sleepers.
TEST(Sleep, WakeupIsLostWithoutSecondCheck) {
  const Job job = litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store(line(0, 0), 1);
      ctx.wake(line(0, 0));
    } else if (ctx.load(line(0, 0)) == 0) {
      ctx.sleep(line(0, 0), ctx.load(line(0, 0)));
    }
  });
  EXPECT_TRUE(fails_with(explore(job), "rank 1 sleeps at shared of 0 at 0 (holds 1)"));
}

TEST(Sleep, ReturnsIfFlagHasChanged) {
  EXPECT_TRUE(passes(explore(litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.store(line(0, 0), 1);
      ctx.fence();
      ctx.wake(line(0, 0));
    } else {
      ctx.sleep(line(0, 0), 0);
    }
  }))));
}

}  // namespace
}  // namespace huddle::check::checker
