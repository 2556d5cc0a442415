// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks with different builds: all get an error before they exchange data of different sizes.
#include "runtime/team/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using How = RankEnd::How;

constexpr int stranger = 2;

Greeting greeting_of(std::string_view version) {
  Greeting greeting = Greeting::mine();
  greeting.version = {};
  std::copy(version.begin(), version.end(), greeting.version.begin());
  return greeting;
}

// Expects the error `words` on all four ranks if one sends the greeting `strange`.
void expect_all_hear(const Greeting& usual, const Greeting& strange, const std::string& words) {
  const auto ends = run_ranks(4, [&](const Bootstrap& bootstrap) {
    const RankError rank_error =
        RankError::of([&] { greet(bootstrap, bootstrap.rank == stranger ? strange : usual); });
    EXPECT_EQ(rank_error.text(), words);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Greeting, OfOneBuildSucceeds) { expect_all_hear(Greeting(), Greeting(), ""); }

TEST(Greeting, OfAnotherVersionFailsAllRanks) {
  expect_all_hear(
      greeting_of("7.1.0"), greeting_of("7.1.2"),
      "rank 2 uses huddle 7.1.2, but rank 0 uses huddle 7.1.0; install the same libhuddle "
      "for all ranks");
}

TEST(Greeting, OfAnotherBuildFailsAllRanks) {
  for (const auto field : {&Greeting::card_bytes, &Greeting::statement_bytes}) {
    Greeting strange = greeting_of("7.1.0");
    strange.*field += 8;
    expect_all_hear(
        greeting_of("7.1.0"), strange,
        "rank 2 uses another build of huddle 7.1.0 than rank 0; install the same libhuddle "
        "for all ranks");
  }
}

TEST(Greeting, WithAWrongMagicNumberFailsAllRanks) {
  Greeting strange = Greeting::mine();
  strange.magic = 42;
  expect_all_hear(
      Greeting::mine(), strange,
      "rank 2 uses another protocol for set-up than rank 0; install the same libhuddle for "
      "all ranks");
}

TEST(Greeting, MayHaveAnUnterminatedVersion) {
  const std::string endless(Greeting().version.size(), '9');
  expect_all_hear(greeting_of("1"), greeting_of(endless),
                  "rank 2 uses huddle " + endless +
                      ", but rank 0 uses huddle 1; install the same libhuddle for all ranks");
}

// The ranks of a team exchange greetings first and, if these differ, nothing else.
TEST(Greeting, IsTheFirstStepOfTeamSetUp) {
  ContextOptions options;
  options.machine =
      machine::generic_machine(machine::discover_from_synthetic("pack:1 core:2 pu:1").topology);
  options.arena.cap_bytes = std::size_t{1} << 26;
  const auto ends = run_ranks(3, [&](const Bootstrap& bootstrap) {
    int steps = 0;
    Bootstrap other = bootstrap;
    other.allgather = [&](std::span<const std::byte> mine, std::span<std::byte> all) {
      Greeting greeting;
      ASSERT_EQ(mine.size(), sizeof greeting);
      std::memcpy(&greeting, mine.data(), sizeof greeting);
      if (bootstrap.rank == stranger) greeting.version[0] = 'x';
      ++steps;
      bootstrap.allgather(std::as_bytes(std::span(&greeting, 1)), all);
    };
    Context context(options);
    const RankError rank_error = RankError::of([&] { Team(context, other); });
    EXPECT_THAT(std::string(rank_error.text()), testing::HasSubstr("rank 2 uses huddle x"));
    EXPECT_EQ(steps, 1);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
