// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/model_error.h"

#include <gtest/gtest.h>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

machine::Machine guessed() {
  return machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
}

TEST(ModelError, IsThePublishedErrorIfFiguresAreSteady) {
  machine::Machine steady = guessed();
  EXPECT_GT(model_error(steady), 0);
  for (auto& line : steady.line) line.origin = machine::Origin::measured;
  for (auto& line : steady.line) line.spread = 0.01;
  EXPECT_EQ(model_error(steady), model_error(guessed()));
}

TEST(ModelError, IsAtLeastTheMedianSpread) {
  machine::Machine shaky = guessed();
  for (auto& line : shaky.line) line.spread = 0.5;
  EXPECT_EQ(model_error(shaky), model_error(guessed())) << "nobody has measured them";
  for (auto& line : shaky.line) line.origin = machine::Origin::measured;
  EXPECT_EQ(model_error(shaky), 0.5);
}

TEST(NearTies, AreWithinErrorOfTheFirst) {
  const std::vector<Candidate> candidates = {{{}, "", 100}, {{}, "", 110}, {{}, "", 111}};
  EXPECT_EQ(near_ties(candidates, 0.1), 2U);
  EXPECT_EQ(near_ties(candidates, 0), 1U);
  EXPECT_EQ(near_ties(candidates, 1), 3U);
  EXPECT_EQ(near_ties({}, 1), 0U);
}

}  // namespace
}  // namespace huddle::select
