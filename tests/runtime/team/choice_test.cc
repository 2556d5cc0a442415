// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks with different predicted times, as caused by another math library or other compiler flags:
// all run the algorithm that one of them has chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "exercise.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"

namespace huddle::team {
namespace {

using ::testing::Each;
using How = RankEnd::How;
using select::Operation;

constexpr int choice_ranks = 4;
constexpr unsigned int seed = 20261124;
constexpr std::array<std::size_t, 6> sizes = {4, 200, 3'000, 20'000, 150'000, 1'000'000};

machine::Machine plain_machine() {
  return machine::generic_machine(machine::discover_from_synthetic("pack:2 core:4 pu:1").topology);
}

// Returns a randomly modified cost.
using Slip = double (*)(std::minstd_rand&, double);

// Changes the cost by one unit in the last place, up or down.
double last_place(std::minstd_rand& random, double price) {
  constexpr double far = std::numeric_limits<double>::infinity();
  return std::nextafter(price, random() % 2 == 0 ? far : 0);
}

// Changes the cost by a factor between 1/64 and 64, so that hardly any choice stays the same.
double wild(std::minstd_rand& random, double price) {
  return price * std::exp2(static_cast<double>(random() % 1200) / 100 - 6);
}

// Modifies the costs that this rank uses. The text of its machine is not modified.
void let_slip(machine::Machine& machine, Slip slip) {
  std::minstd_rand random(seed);
  for (machine::LineCost& cost : machine.line) {
    for (double* price :
         {&cost.one_way_ns, &cost.shared_ns, &cost.reader_step_ns, &cost.writer_step_ns}) {
      *price = slip(random, *price);
    }
  }
  for (machine::HandoffCurve& handoff : machine.handoff) {
    for (double& ns : handoff.curve.ns) ns = slip(random, ns);
  }
  for (machine::CopyCurve& copy : machine.copy) {
    for (double& ns : copy.curve.ns) ns = slip(random, ns);
  }
}

ContextOptions choice_options() {
  ContextOptions choice_options;
  choice_options.machine = plain_machine();
  choice_options.arena.cap_bytes = std::size_t{1} << 28;
  return choice_options;
}

// The name of an algorithm in a form that can be gathered.
using Name = std::array<char, 16>;
Name name_of(std::string_view algorithm) {
  Name name{};
  std::copy_n(algorithm.begin(), std::min(algorithm.size(), name.size() - 1), name.begin());
  return name;
}

void expect_right_and_alike(Team& team, const Bootstrap& place, Operation operation,
                            std::size_t bytes) {
  OwnCall call(team, operation, bytes, seed);
  call.run();
  ASSERT_TRUE(call.is_right()) << name(operation) << ", " << bytes << " bytes";
  const std::vector<Name> names = gather(place, name_of(team.latest_algorithm()));
  ASSERT_THAT(names, Each(names.front())) << name(operation) << ", " << bytes << " bytes";
}

void expect_agreement(int odd, Slip slip) {
  const auto ends = run_ranks(choice_ranks, [&](const Bootstrap& place) {
    Context context(choice_options());
    if (place.rank == odd) let_slip(const_cast<machine::Machine&>(context.machine()), slip);
    Team team(context, place);
    for (const Operation operation : select::operations) {
      for (const std::size_t bytes : sizes) {
        ASSERT_NO_FATAL_FAILURE(expect_right_and_alike(team, place, operation, bytes));
      }
    }
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Returns the number of calls for which a rank with the modified costs would choose differently.
int tipped_choices(Slip slip) {
  const machine::Machine plain = plain_machine();
  machine::Machine odd = plain;
  let_slip(odd, slip);
  const node::RankLocality locality = node::locality(plain.topology, {0, 1, 2, 3});
  const auto choice = [&](const machine::Machine& machine, const select::Request& request) {
    const machine::CostModel model(machine);
    const auto resources = select::team_resources(locality, model, select::usual_queue_bytes);
    const auto candidates = select::candidates(request, locality, model, resources);
    const select::Candidate& best = select::cheapest(candidates);
    return std::string(select::algorithm_name(best.plan)) + best.parameters;
  };
  int tipped = 0;
  for (const Operation operation : select::operations) {
    for (const std::size_t bytes : sizes) {
      const select::Request request = select::request_of(operation, bytes, choice_ranks);
      if (choice(plain, request) != choice(odd, request)) ++tipped;
    }
  }
  return tipped;
}

TEST(Choice, IsUniformIfCostsDifferInTheLastDigit) {
  EXPECT_GT(tipped_choices(last_place), 0);
  for (const int odd : {0, 1, choice_ranks - 1}) expect_agreement(odd, last_place);
}

TEST(Choice, IsUniformIfCostsDifferWidely) {
  EXPECT_GT(tipped_choices(wild), 20);
  for (const int odd : {0, 1, choice_ranks - 1}) expect_agreement(odd, wild);
}

// Expects that all ranks run the algorithm `runs` if each rank is configured to force `told[rank]`.
void expect_forced(const std::array<const char*, choice_ranks>& told, std::string_view runs,
                   std::string_view unserved, std::size_t bytes) {
  const bool is_unlike = std::string_view(told.front()) != told.back();
  const auto ends = run_ranks(choice_ranks, [&](const Bootstrap& place) {
    ContextOptions with = choice_options();
    with.forcing = select::Forcing(told[static_cast<std::size_t>(place.rank)]);
    Context context(std::move(with));
    Team team(context, place);
    ASSERT_NO_FATAL_FAILURE(expect_right_and_alike(team, place, Operation::bcast, bytes));
    if (!runs.empty()) {
      EXPECT_EQ(team.latest_algorithm(), runs);
    }
    EXPECT_EQ(team.latest_unserved(), unserved);
    EXPECT_EQ(team.ranks_force_different_algorithms(), is_unlike);
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Choice, IsTheForcedOneOnAllRanks) {
  for (const char* const one : {"bcast:pipelined", "bcast:segmented"}) {
    expect_forced({one, one, one, one}, std::string_view(one).substr(6), "", 20'000);
  }
}

TEST(Choice, IsForcedByTheLowestRankIfRanksDiffer) {
  constexpr const char* first = "bcast:segmented";
  expect_forced({first, first, first, "bcast:pipelined"}, "segmented", "", 20'000);
  expect_forced({first, first, first, ""}, "segmented", "", 20'000);
}

TEST(Choice, NamesAForcedAlgorithmThatCannotRun) {
  constexpr const char* vain = "bcast:inline";
  expect_forced({vain, vain, vain, vain}, "", "inline", 20'000);
}

}  // namespace
}  // namespace huddle::team
