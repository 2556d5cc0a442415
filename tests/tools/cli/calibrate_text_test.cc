// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/calibrate/calibrate_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>

#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OtherWorkText, NamesTheBusiestProcessor) {
  EXPECT_EQ(other_work_text({{3, 0.2}, {7, 0.97}}, 8),
            "other programs run on 2 of the 8 hardware threads to be measured (on hardware thread "
            "7 for 97 % of the time), so measurements will be unsteady; stop these programs first");
}

// Returns a machine without any measurements.
calibrate::Outcome guessed() {
  calibrate::Outcome outcome;
  outcome.machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:2 numa:2 l3:2 core:4 pu:1").topology);
  return outcome;
}

template <typename Entries>
void measure(Entries& entries) {
  for (auto& entry : entries) entry.origin = machine::Origin::measured;
}

calibrate::Outcome measured() {
  calibrate::Outcome outcome = guessed();
  machine::Machine& machine = outcome.machine;
  measure(machine.line);
  for (auto& cost : machine.line) cost.steps_origin = machine::Origin::measured;
  measure(machine.copy);
  measure(machine.handoff);
  measure(machine.memory);
  measure(machine.paths);
  measure(machine.system);
  return outcome;
}

void expect_fits(const std::string& text, int columns) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_LE(static_cast<int>(display_width(line)), columns) << line;
  }
}

TEST(SummaryText, MarksEstimates) {
  EXPECT_THAT(summary_text(measured(), 80), Not(HasSubstr("~")));
  calibrate::Outcome outcome = measured();
  outcome.machine.system.back().origin = machine::Origin::estimated;
  EXPECT_THAT(summary_text(outcome, 80), ContainsRegex("map_page +~[0-9]"));
  EXPECT_THAT(summary_text(outcome, 80), HasSubstr("\n~ estimated, not measured"));
}

TEST(SummaryText, FitsTheTerminal) {
  for (const int columns : {60, 80, 120}) {
    expect_fits(summary_text(guessed(), columns), columns);
    expect_fits(summary_text(measured(), columns), columns);
  }
}

TEST(PlanText, FitsTheTerminal) {
  const auto topology = guessed().machine.topology;
  const auto plan = calibrate::make_plan(topology, {topology.pus, false, std::uint64_t{1} << 40});
  for (const int columns : {45, 60, 80}) expect_fits(plan_text(topology, plan, columns), columns);
}

}  // namespace
}  // namespace huddle::cli
