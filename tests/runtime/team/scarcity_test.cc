// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Allocations of one rank fail for a while, at any point from team set-up to the first calls of all
// operations: no rank waits for it forever. Either all ranks get an error before any data has
// moved, and the call succeeds once memory is available, or all are notified that the team is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/system.h"
#include "exercise.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/memory/heap.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"
#include "sanitizer.h"
#include "scarce_memory.h"

namespace huddle::team {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using How = RankEnd::How;
using select::Operation;

constexpr int scarce_ranks = 3;

// The outcome of a step on a rank.
enum class End {
  well,
  refused,  // an error before any data has moved; the team remains usable
  lost,     // an error after which the team is unusable
};

template <class Step>
End end_of(Step step) {
  try {
    step();
    return End::well;
  } catch (const context::PeerLost&) {
    return End::lost;
  } catch (const FailureError&) {
    return End::refused;
  } catch (const std::exception&) {
    return End::lost;
  }
}

// The memory of a rank, which is usually unlimited.
class Purse {
 public:
  explicit Purse(Allowance allowance) : allowance_(allowance) {}

  template <class Step>
  End spend(Step step) {
    allow(allowance_);
    const End end = end_of(step);
    allowance_ = allow({});
    return end;
  }

 private:
  Allowance allowance_;
};

// Returns a random allowance. Early failures are as likely as late ones, although there are more
// late points; in a quarter of the cases several allocations fail.
Allowance allowance_of(std::minstd_rand& random) {
  const long most = 1L << random() % 13;
  return {static_cast<long>(random()) % most,
          1 + static_cast<long>(random() % 4 == 0 ? random() % 50 : 0)};
}

machine::Machine small_machine() {
  return machine::generic_machine(machine::discover_from_synthetic("pack:1 core:4 pu:1").topology);
}

// A machine model in which reading data that a peer wrote is faster than everything else, so that
// ranks select algorithms that access peers' memory.
machine::Machine machine_for_reading() {
  machine::Machine machine = small_machine();
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind == machine::HandoffKind::read_dirty) continue;
    for (double& ns : handoff.curve.ns) ns *= 1e4;
  }
  return machine;
}

ContextOptions options(machine::Machine machine) {
  ContextOptions options;
  options.machine = std::move(machine);
  options.arena.cap_bytes = std::size_t{1} << 28;
  return options;
}

// The resources of a process for all its teams.
struct Home {
  Home() : heap(std::size_t{64} << 20), plain(options(small_machine())), reading(with_heap()) {}

  ContextOptions with_heap() const {
    ContextOptions with = options(machine_for_reading());
    with.heap = heap.facts();
    return with;
  }

  memory::Heap heap;
  Context plain;
  Context reading;
};

std::vector<Operation> operations_in_some_order(std::minstd_rand& random) {
  std::vector<Operation> list(select::operations.begin(), select::operations.end());
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

// Returns the same bootstrap with unlimited memory, because failures within it are not tested here.
Bootstrap with_memory(const Bootstrap& place) {
  return {place.rank, place.ranks, [&place](auto mine, auto all) {
            const Allowance left = allow({});
            place.allgather(mine, all);
            allow(left);
          }};
}

// The set-up and calls of a team, the same on all ranks for equal seeds.
class ScarceLife {
 public:
  ScarceLife(const Bootstrap& place, Home& home, unsigned int seed)
      : place_(place),
        bootstrap_(with_memory(place)),
        random_(seed),
        poor_(static_cast<int>(random_() % scarce_ranks)),
        context_(random_() % 2 == 0 ? home.plain : home.reading),
        purse_(of_rank(allowance_of(random_))) {}

  // Returns the number of steps that failed.
  int run() {
    int failures = 0;
    const End made = everybodys(purse_.spend([this] { team_.emplace(context_, bootstrap_); }));
    if (made != End::well) {
      EXPECT_EQ(made, End::refused);
      return 1;
    }
    for (const Operation operation : operations_in_some_order(random_)) {
      const End end = call(operation);
      if (end != End::well) ++failures;
      if (end == End::lost || testing::Test::HasFailure()) break;
    }
    return failures;
  }

 private:
  Allowance of_rank(Allowance poor) const { return place_.rank == poor_ ? poor : Allowance{}; }

  // Returns the outcome for the team. Checks that all ranks are refused or none is. A rank that
  // succeeded while others lost the team must notice that in its next call.
  End everybodys(End mine) {
    const std::vector<End> all = gather(place_, mine);
    const auto has = [&](End end) { return std::find(all.begin(), all.end(), end) != all.end(); };
    EXPECT_TRUE(!has(End::refused) || (!has(End::well) && !has(End::lost)))
        << "rank " << place_.rank << " of them, poor is " << poor_;
    if (!has(End::lost)) return mine;
    if (mine == End::well && team_) {
      EXPECT_EQ(end_of([&] { team_->barrier(); }), End::lost) << "rank " << place_.rank;
    }
    return End::lost;
  }

  End call(Operation operation) {
    const std::size_t bytes = std::size_t{1} << (2 + random_() % 17);
    const auto seed = static_cast<std::uint32_t>(random_());
    OwnCall call(*team_, operation, bytes, seed);
    const End mine = purse_.spend([&] { call.run(); });
    EXPECT_TRUE(mine != End::well || call.is_right()) << name(operation) << ", " << bytes;
    const End end = everybodys(mine);
    if (end != End::refused) return end;
    // Repeats the call with memory.
    OwnCall again(*team_, operation, bytes, seed + 1);
    EXPECT_EQ(end_of([&] { again.run(); }), End::well) << name(operation);
    EXPECT_TRUE(again.is_right()) << name(operation) << ", " << bytes;
    return end;
  }

  const Bootstrap& place_;
  Bootstrap bootstrap_;
  std::minstd_rand random_;
  int poor_;
  Context& context_;
  Purse purse_;
  std::optional<Team> team_;
};

// The number of repetitions: from the variable REFUSALS, or a default for a run of all tests.
struct ScarceEffort {
  long long lives = 300;
  std::chrono::seconds limit = 60s;

  static ScarceEffort asked_for() {
    const char* const text = std::getenv("REFUSALS");
    const auto number = whole_number(text == nullptr ? "" : text);
    return number ? ScarceEffort{*number, 1h} : ScarceEffort{};
  }
};

TEST(Scarcity, OnOneRankBlocksNoOtherRank) {
  if (sanitizer_owns_new) GTEST_SKIP() << why_memory_is_never_scarce;
  const auto [lives, limit] = ScarceEffort::asked_for();
  constexpr unsigned int first_seed = 20261124;
  const auto ends = run_ranks(
      scarce_ranks,
      [most = lives](const Bootstrap& place) {
        Home home;
        long long failures = 0;
        for (unsigned int life = 0; life < most; ++life) {
          SCOPED_TRACE("seed " + std::to_string(first_seed + life));
          failures += ScarceLife(place, home, first_seed + life).run();
          ASSERT_FALSE(testing::Test::HasFailure());
        }
        EXPECT_GT(failures, most / 4);
      },
      limit);
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
