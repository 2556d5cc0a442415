// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One rank gets no memory for a while, at any moment from the making of a team through the first
// calls of all operations: nobody waits for it without end. Either all ranks hear before anything
// has moved, and with the memory back the call goes well, or all hear that the team is lost.
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

// How a step ended on a rank.
enum class End {
  well,
  refused,  // in good order, before anything has moved
  lost,     // this rank's trouble or another's; the team is of no use any more
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

// The memory of a rank, most of the time as much as it asks for.
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

// Early moments as often as late ones, of which there are more; seldom for one block alone.
Allowance allowance_of(std::minstd_rand& random) {
  const long most = 1L << random() % 13;
  return {static_cast<long>(random()) % most,
          1 + static_cast<long>(random() % 4 == 0 ? random() % 50 : 0)};
}

machine::Machine small_machine() {
  return machine::generic_machine(machine::discover_from_synthetic("pack:1 core:4 pu:1").topology);
}

// Where reading what a peer wrote is faster than all else, ranks want to reach each other.
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

// What a process has for all its teams.
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

// The same with as much memory as it asks for, which is not what this is about.
Bootstrap with_memory(const Bootstrap& place) {
  return {place.rank, place.ranks, [&place](auto mine, auto all) {
            const Allowance left = allow({});
            place.allgather(mine, all);
            allow(left);
          }};
}

// A life of a team, the same on all ranks by the seed.
class ScarceLife {
 public:
  ScarceLife(const Bootstrap& place, Home& home, unsigned int seed)
      : place_(place),
        bootstrap_(with_memory(place)),
        random_(seed),
        poor_(static_cast<int>(random_() % scarce_ranks)),
        context_(random_() % 2 == 0 ? home.plain : home.reading),
        purse_(of_rank(allowance_of(random_))) {}

  // Returns how many steps failed.
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

  // What has come of it for the team. All are refused, or none is; and whoever is well where others
  // are lost hears of it in the next call.
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
    // Now with memory.
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

// As many as REFUSALS says; without it, as there is time for in a run of all tests.
struct ScarceEffort {
  long long lives = 300;
  std::chrono::seconds limit = 60s;

  static ScarceEffort asked_for() {
    const char* const text = std::getenv("REFUSALS");
    const auto number = whole_number(text == nullptr ? "" : text);
    return number ? ScarceEffort{*number, 1h} : ScarceEffort{};
  }
};

TEST(Scarcity, OfOneRankMakesNobodyWait) {
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
