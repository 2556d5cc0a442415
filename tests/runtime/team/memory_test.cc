// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A rank fails to allocate private memory at any point of team set-up: then no rank has a team. A
// rank that had one would wait forever for this rank in its first collective.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "exercise.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"
#include "sanitizer.h"
#include "scarce_memory.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using How = RankEnd::How;

constexpr int rank_without_memory = 1;

ContextOptions options(const char* machine) {
  ContextOptions options;
  options.machine = machine::generic_machine(machine::discover_from_synthetic(machine).topology);
  options.arena.cap_bytes = std::size_t{1} << 26;
  options.progress = [a = 1L, b = 2L, c = 3L] {
    static_cast<void>(a + b + c);
  };  // too large to be stored inline
  return options;
}

struct Outcome {
  bool has_team = false;
  bool had_memory = true;
};

// Returns the outcome of a set-up in which allocation `given` fails on one rank. The bootstrap is
// reused, so the next set-up would detect a rank that omitted a step.
Outcome try_to_make_team(Context& context, const Bootstrap& place, long given) {
  std::optional<Team> team;
  if (place.rank == rank_without_memory) allow({given});
  const RankError rank_error = RankError::of([&] { team.emplace(context, place); });
  const bool had_memory = place.rank != rank_without_memory || !allow({}).is_any();
  return {!rank_error.is_any(), had_memory};
}

// Lets each allocation fail in turn. The failure of some allocations has no consequence.
void expect_all_or_none(const Bootstrap& place, const char* machine) {
  Context context(options(machine));
  bool had_memory = false;
  for (long given = 0; !had_memory; ++given) {
    const auto outcomes = gather(place, try_to_make_team(context, place, given));
    for (const Outcome& one : outcomes) {
      ASSERT_EQ(one.has_team, outcomes[rank_without_memory].has_team) << given << " allocations";
    }
    had_memory = outcomes[rank_without_memory].had_memory;
    ASSERT_TRUE(outcomes[rank_without_memory].has_team || !had_memory);
  }
}

TEST(Memory, FailureAtAnyAllocationFailsAllRanks) {
  if (sanitizer_owns_new) GTEST_SKIP() << why_memory_is_never_scarce;
  const auto ends =
      run_ranks(3, [](const Bootstrap& place) { expect_all_or_none(place, "pack:1 core:3 pu:1"); });
  EXPECT_THAT(ends, Each(How::fine));
}

// Small calls use small slots, and still do after large calls have set up large ones.
TEST(Memory, SmallCallsTakeLittle) {
  static constexpr std::size_t most_bytes = std::size_t{160} << 10;
  constexpr std::uint32_t seed = 7;
  const auto ends = run_ranks(3, [](const Bootstrap& place) {
    Context context(options("pack:1 core:3 pu:1"));
    Team team(context, place);
    const auto make_calls = [&](std::size_t bytes) {
      for (const auto operation : {select::Operation::allreduce, select::Operation::allgather,
                                   select::Operation::alltoall, select::Operation::scan}) {
        OwnCall call(team, operation, bytes, seed);
        call.run();
        EXPECT_TRUE(call.is_right()) << name(operation) << " of " << bytes;
      }
    };
    make_calls(8);
    EXPECT_LE(team.shared_bytes(), most_bytes);
    make_calls(std::size_t{1} << 16);
    const std::size_t with_large = team.shared_bytes();
    EXPECT_GT(with_large, most_bytes);
    make_calls(8);
    make_calls(std::size_t{1} << 16);
    EXPECT_EQ(team.shared_bytes(), with_large);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// All ranks use the machine of the lowest rank.
TEST(Memory, FailureWithAnotherMachineFailsAllRanks) {
  if (sanitizer_owns_new) GTEST_SKIP() << why_memory_is_never_scarce;
  const auto ends = run_ranks(2, [](const Bootstrap& place) {
    expect_all_or_none(
        place, place.rank == rank_without_memory ? "pack:1 core:2 pu:1" : "pack:1 core:3 pu:1");
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
