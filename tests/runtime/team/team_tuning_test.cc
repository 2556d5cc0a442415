// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Teams whose calls are tuned, and the alternatives that they set up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/arithmetic.h"
#include "exercise.h"
#include "ranks.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using select::Operation;
using ::testing::Each;
using How = RankEnd::How;

constexpr const char* four_cores = "pack:1 l3:1 core:4 pu:1";

constexpr node::SegmentedBcast::Plan segmented{};

// Trials begin after the first calls.
ContextOptions tuned_at_once() {
  ContextOptions options = generic_options(four_cores, 256 * MiB);
  options.trials_after = Tuner::calls_before_trial;
  return options;
}
int calls_until_result(std::size_t bytes) {
  return static_cast<int>(Tuner::calls_before_trial) + 1 + Tuner::calls_of_trial(bytes);
}

Alternative pieces_of(std::size_t bytes, memory::CopyMethod method) {
  node::SlotExchange::Plan plan;
  plan.round_bytes = bytes;
  plan.method = method;
  return {plan, static_cast<double>(bytes)};
}

TEST(RecalledAlternative, HasTheMostSimilarPieces) {
  const memory::CopyMethod plain;
  const memory::CopyMethod rep = memory::CopyKernel::rep_movsb;
  const std::vector<Alternative> listed = {
      {segmented, 1}, pieces_of(1024, plain), pieces_of(4096, rep), pieces_of(16384, plain)};
  const select::Plan usual = pieces_of(256, plain).plan;
  const auto piece_of = [&](const select::PlanFeatures& wanted) {
    const auto place = most_similar(listed, wanted, usual);
    return select::piece_size(place ? listed[*place].plan : usual);
  };
  EXPECT_EQ(piece_of({"slots", 2000, plain}), 1024U);
  EXPECT_EQ(piece_of({"slots", 9000, plain}), 16384U);
  EXPECT_EQ(piece_of({"slots", 256, rep}), 4096U);
  EXPECT_EQ(piece_of({"slots", 128, plain}), 256U) << "the usual plan is the most similar one";
  EXPECT_EQ(piece_of({"doubling", 4096, plain}), 256U) << "no plan is similar";
}

TEST(RecalledAlternative, IsListedBesideOthers) {
  const auto list = std::make_shared<const std::vector<Alternative>>(
      std::vector<Alternative>{{segmented, 1}, pieces_of(1024, {}), pieces_of(4096, {})});
  const memory::CopyMethod plain;
  const std::vector<select::PlanFeatures> recalled = {
      {"inline", 0, {}}, {"slots", 4096, plain}, {"slots", 256, plain}};
  const select::Plan usual = pieces_of(256, {}).plan;
  const auto pieces = [&](const AlternativeNumbers& numbers, const AlternativeList& from) {
    std::vector<std::optional<std::size_t>> sizes;
    for (const auto& one : alternatives_of(numbers, from, recalled, usual)) {
      sizes.push_back(one ? std::optional(select::piece_size(one->plan)) : std::nullopt);
    }
    return sizes;
  };
  using Sizes = std::vector<std::optional<std::size_t>>;
  EXPECT_EQ(pieces({first_recalled_number + 1, 1, 3}, list), (Sizes{4096, 1024, 65536}));
  EXPECT_EQ(pieces({1, 4, 2}, list), (Sizes{1024, std::nullopt, 4096})) << "4 is 1 again";
  EXPECT_EQ(pieces({first_recalled_number + 1, 2, 1}, list), (Sizes{4096, std::nullopt, 1024}))
      << "2 is the recalled one";
  EXPECT_EQ(pieces({first_recalled_number + 2, 1, 2}, list), (Sizes{std::nullopt, 1024, 4096}))
      << "the recalled one is the usual plan";
  EXPECT_EQ(pieces({first_recalled_number + 1, 0, 1}, nullptr),
            (Sizes{std::nullopt, std::nullopt, std::nullopt}));
}

// Every call of a team gets the right result, no matter which implementation runs it.
TEST(TunedTeam, MovesTheSameDataByEveryImplementation) {
  constexpr int ranks = 4;
  const auto ends = run_ranks(ranks, [&](const Bootstrap& place) {
    Context context(tuned_at_once());
    Team team(context, place);
    for (const Operation operation : select::operations) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{30'000}}) {
        std::vector<Implementation> by;
        Implementation kept = Implementation::chosen;
        bool has_ended = false;
        for (unsigned seed = 0; !has_ended; ++seed) {
          ASSERT_LT(seed, static_cast<unsigned>(calls_until_result(0)));
          const Turn turn = team.begin_turn({operation, bytes, true});
          has_ended = team.take_tuning_result().has_value();
          by.push_back(turn.by);
          if (!turn.is_in_trial) kept = turn.by;
          const double enter_ns = 10 * ns_per_s * seed;
          if (turn.by == Implementation::outside) {
            team.note_outside_call({operation, 0, bytes, 1});
          } else {
            OwnCall call(team, operation, bytes, seed);
            call.run();
            ASSERT_TRUE(call.is_right()) << name(operation) << ", " << bytes << " bytes";
          }
          // The alternative is the fastest, and the calls take long enough to justify its set-up.
          const double ns = (turn.by == Implementation::alternative ? 1 : 2) * ns_per_s;
          if (turn.is_timed) team.end_turn(turn, {enter_ns + 1, enter_ns + ns, 8});
        }
        EXPECT_NE(kept, Implementation::outside) << name(operation);
        EXPECT_THAT(by, ::testing::Contains(Implementation::outside));
      }
    }
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// It takes long to list alternatives.
TEST(TunedTeam, SharesListsWithTheTeamsOfItsGroup) {
  const auto ends = run_ranks(2, [&](const Bootstrap& place) {
    Context context(tuned_at_once());
    Team first(context, place);
    constexpr CallClass barrier{Operation::barrier, 0, false};
    EXPECT_EQ(first.group()->alternatives().find(barrier), nullptr);
    for (int call = 0; call < calls_until_result(0); ++call) {
      const Turn turn = first.begin_turn({Operation::barrier, 0, false});
      first.barrier();
      if (turn.is_timed) first.end_turn(turn, {1, 1000});
    }
    EXPECT_EQ(first.group()->alternatives().find(barrier) != nullptr, place.rank == 0);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Only rank 0 of the second team knows the result of the first one.
TEST(TunedTeam, ContinuesWithTheResultsOfAnEarlierTeam) {
  constexpr std::size_t bytes = 100'000;
  const auto ends = run_ranks(2, [&](const Bootstrap& place) {
    Context context(tuned_at_once());
    const auto implementations = [&](Team& team, int calls) {
      std::vector<Implementation> by;
      for (unsigned seed = 0; seed < static_cast<unsigned>(calls); ++seed) {
        const Turn turn = team.begin_turn({Operation::bcast, bytes, false});
        by.push_back(turn.by);
        OwnCall call(team, Operation::bcast, bytes, seed);
        call.run();
        EXPECT_TRUE(call.is_right());
        const double enter_ns = 10 * ns_per_s * seed;
        const double ns = (turn.by == Implementation::alternative ? 1 : 2) * ns_per_s;
        if (turn.is_timed) team.end_turn(turn, {enter_ns + 1, enter_ns + ns, 8});
      }
      return by;
    };
    std::string_view kept;
    {
      Team first(context, place);
      const auto calls = implementations(first, calls_until_result(bytes) + 1);
      ASSERT_EQ(calls.back(), Implementation::alternative);
      EXPECT_GT(std::count(calls.begin(), calls.end(), Implementation::chosen), 4);
      kept = first.latest_algorithm();
      first.note_tuning();
    }
    EXPECT_EQ(context.tuning_history().changed().size(), place.rank == 0 ? 1U : 0U);
    Team second(context, place);
    constexpr int calls_of_second = 40;  // fewer than until the next trial
    const auto calls = implementations(second, calls_of_second);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), Implementation::chosen), 4);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), Implementation::alternative),
              calls_of_second - 4);
    EXPECT_EQ(second.latest_algorithm(), kept);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// A rank whose call runs outside the team is not waited for by a peer that makes another call.
TEST(TunedTeam, ReportsCallsThatDifferFromOneRunOutside) {
  const auto ends = run_ranks(2, [&](const Bootstrap& place) {
    Context context(tuned_at_once());
    Team team(context, place);
    team.barrier();
    if (place.rank == 0) {
      team.note_outside_call({Operation::allgather, 0, 4096, 1});
      return;
    }
    OwnCall call(team, Operation::bcast, 100'000, 1);
    EXPECT_THROW(call.run(), context::CallsDiffer);
  });
  EXPECT_EQ(ends.back().how, How::fine);
}

}  // namespace
}  // namespace huddle::team
