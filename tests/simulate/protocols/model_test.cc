// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests of the simulated context: shares of concurrent copies, times of cache lines, and the report
// of a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "model/machine/cost.h"
#include "model/machine/machine_file.h"
#include "simulate/protocols/model/figures.h"
#include "simulate/protocols/model/simulated_context.h"

namespace huddle::protocols::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

machine::Machine songshan() {
  return machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/songshan.toml");
}

Outcome outcome_of(const machine::Machine& machine, std::vector<int> pus,
                   const std::function<void(SimulatedContext&)>& body) {
  const machine::CostModel model(machine);
  Job job;
  job.pus = std::move(pus);
  job.body = body;
  return run(job, model);
}

context::Address flag_of(int rank) { return {context::Region::shared, rank, 0}; }

TEST(Sharing, TwoCopiesOnOneResourceTakeTwiceAsLong) {
  Sharing sharing({10});
  sharing.begin(0, 0, 1000, 100, {{0, 1000}});
  sharing.begin(1, 0, 1000, 100, {{0, 1000}});
  EXPECT_NEAR(sharing.next_end_ns(), 200, 1e-6);
}

// A copy that is slow by itself leaves the remaining bandwidth to the other.
TEST(Sharing, CopyIsNeverFasterThanAlone) {
  Sharing sharing({10});
  sharing.begin(0, 0, 1000, 1000, {{0, 1000}});
  sharing.begin(1, 0, 900, 10, {{0, 900}});
  EXPECT_NEAR(sharing.next_end_ns(), 100, 1e-6);
  EXPECT_EQ(sharing.finish_next(), 1);
  EXPECT_NEAR(sharing.next_end_ns(), 1000, 1e-6);
}

TEST(Sharing, TransfersAllBytesWithinCapacity) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const auto between = [&](double least, double most) {
      return std::uniform_real_distribution<double>(least, most)(random);
    };
    constexpr int resources = 4;
    std::vector<double> capacity;
    for (int i = 0; i < resources; ++i) capacity.push_back(between(1, 20));
    Sharing sharing(capacity);
    std::vector<double> asked(resources);
    std::vector<bool> open(20);
    double now_ns = 0;
    const auto finish = [&] {
      now_ns = std::max(now_ns, sharing.next_end_ns());
      open[static_cast<std::size_t>(sharing.finish_next())] = false;
      for (std::size_t i = 0; i < resources; ++i) {
        ASSERT_LE(sharing.passed_bytes()[i], capacity[i] * now_ns * (1 + 1e-9)) << "seed " << seed;
      }
    };
    for (int step = 0; step < 200; ++step) {
      const auto copy = static_cast<std::size_t>(random() % open.size());
      const double begin_ns = now_ns + between(0, 50);
      while (sharing.next_end_ns() <= begin_ns) finish();
      now_ns = begin_ns;
      if (open[copy]) continue;
      open[copy] = true;
      std::vector<Load> loads;
      for (int i = 0; i < resources; ++i) {
        if (random() % 2 == 0) continue;
        loads.push_back({i, between(1, 3000)});
        asked[static_cast<std::size_t>(i)] += loads.back().bytes;
      }
      sharing.begin(static_cast<int>(copy), now_ns, between(1, 1000), between(1, 500), loads);
    }
    while (sharing.next_end_ns() < Sharing::never) finish();
    for (std::size_t i = 0; i < resources; ++i) {
      EXPECT_NEAR(sharing.passed_bytes()[i], asked[i], 1e-6 * asked[i]) << "seed " << seed;
    }
  }
}

TEST(SimulatedContext, LineTakesItsLatency) {
  const machine::Machine machine = songshan();
  const machine::CostModel model(machine);
  for (const int other : {1, 4, 31}) {
    const Outcome outcome = outcome_of(machine, {0, other}, [](SimulatedContext& ctx) {
      for (context::Sequence call = 1; call <= 2; ++call) {
        ctx.meet();
        if (ctx.rank() == 0) {
          ctx.store(flag_of(0), context::first_sequence + call);
        } else {
          ctx.wait(flag_of(0), context::until_reached(context::first_sequence + call));
        }
      }
    });
    EXPECT_NEAR(outcome.ns[1], model.line_ns(0, other), 1e-6);
    EXPECT_EQ(outcome.lines(0, 1), 1U);
  }
}

// The last of several readers waits for the others, as in the closed form.
TEST(SimulatedContext, ReadersOfALineAreServedInTurn) {
  const machine::Machine machine = songshan();
  const machine::CostModel model(machine);
  const Outcome outcome = outcome_of(machine, {0, 1, 2, 3}, [](SimulatedContext& ctx) {
    ctx.meet();
    if (ctx.rank() == 0) {
      ctx.store(flag_of(0), context::first_sequence + 1);
    } else {
      ctx.wait(flag_of(0), context::until_reached(context::first_sequence + 1));
    }
  });
  EXPECT_NEAR(outcome.all_ns(), model.line_to_readers_ns(0, std::vector<int>{1, 2, 3}), 1e-6);
}

// All cores of a die write data that no cache holds: they share the bandwidth of the die's memory.
// Rank 0 stores to a line of every other rank. Returns when the last rank has its line.
double last_of_stores_ns(machine::Machine machine, int misses) {
  machine.outstanding_misses = {misses, machine::Origin::estimated};
  std::vector<int> pus(32);
  std::iota(pus.begin(), pus.end(), 0);
  const Outcome outcome = outcome_of(machine, pus, [](SimulatedContext& ctx) {
    const auto line_of = [](int rank) {
      return context::Address{context::Region::shared, 0, static_cast<std::size_t>(rank) * 64};
    };
    for (context::Sequence call = 1; call <= 2; ++call) {
      ctx.meet();
      const context::Sequence value = context::first_sequence + call;
      if (ctx.rank() > 0) ctx.wait(line_of(ctx.rank()), context::until_reached(value));
      for (int rank = 1; ctx.rank() == 0 && rank < ctx.ranks(); ++rank) {
        ctx.store(line_of(rank), value);
      }
    }
  });
  return outcome.all_ns();
}

TEST(SimulatedContext, StoresWaitForOutstandingMisses) {
  const machine::Machine machine = songshan();
  const machine::CostModel model(machine);
  double all_ns = 0;
  double longest_ns = 0;
  for (int pu = 1; pu < 32; ++pu) {
    all_ns += model.shared_line_ns(0, pu);
    longest_ns = std::max(longest_ns, model.line_ns(0, pu));
  }
  EXPECT_DOUBLE_EQ(last_of_stores_ns(machine, 31), longest_ns);
  // One at a time: the last line is requested after all others.
  EXPECT_NEAR(last_of_stores_ns(machine, 1), all_ns + longest_ns, longest_ns);
  EXPECT_GT(last_of_stores_ns(machine, 8), 1.5 * longest_ns);
  EXPECT_LT(last_of_stores_ns(machine, 8), last_of_stores_ns(machine, 4));
}

TEST(SimulatedContext, CopiesOnOneDieShareItsMemory) {
  constexpr std::size_t bytes = 64 << 20;
  const auto copied_ns = [](std::vector<int> pus) {
    return outcome_of(songshan(), std::move(pus),
                      [](SimulatedContext& ctx) {
                        ctx.meet();
                        ctx.copy({context::Region::output, ctx.rank(), 0},
                                 {context::Region::input, ctx.rank(), 0}, bytes,
                                 memory::CopyKernel::plain);
                      })
        .all_ns();
  };
  const machine::Machine machine = songshan();
  const double alone_ns = copied_ns({0});
  EXPECT_NEAR(alone_ns, machine::time_at(machine.copy[0].curve, bytes), 0.02 * alone_ns);
  const double all_ns = copied_ns({0, 1, 2, 3, 4, 5, 6, 7});
  const auto of_die = std::find_if(machine.copy.begin(), machine.copy.end(), [](const auto& copy) {
    return copy.level == "numa" && copy.copiers == 8;
  });
  EXPECT_NEAR(all_ns, machine::time_at(of_die->curve, bytes), 0.02 * all_ns);
  EXPECT_NEAR(copied_ns({0, 8, 16, 24}), alone_ns, 0.02 * alone_ns);
}

// Recently copied data come from the cache, unless larger data were used in between.
TEST(SimulatedContext, CachesAreFinite) {
  const auto again_ns = [](std::size_t between_bytes) {
    return outcome_of(songshan(), {0},
                      [&](SimulatedContext& ctx) {
                        constexpr std::size_t bytes = 256 << 10;
                        const context::Address from{context::Region::input, 0, 0};
                        const context::Address to{context::Region::output, 0, 0};
                        ctx.copy(to, from, bytes, memory::CopyKernel::plain);
                        ctx.caller_read({context::Region::scratch, 0, 0}, between_bytes);
                        ctx.meet();
                        ctx.copy(to, from, bytes, memory::CopyKernel::plain);
                      })
        .all_ns();
  };
  EXPECT_LT(2 * again_ns(0), again_ns(64 << 20));
}

TEST(SimulatedContext, DeadlockIsReportedWithWaitingRanks) {
  try {
    outcome_of(songshan(), {0, 1}, [](SimulatedContext& ctx) {
      ctx.wait(flag_of(1 - ctx.rank()), context::until_reached(context::first_sequence + 1));
    });
    FAIL() << "it went on";
  } catch (const FailureError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0 waits for"), HasSubstr("rank 1 waits for"),
                                    HasSubstr("of rank 1's memory")));
  }
}

}  // namespace
}  // namespace huddle::protocols::model
