// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "doctor/machine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../base/scratch.h"
#include "doctor/checks.h"
#include "fake_system.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

TEST(JudgeMachine, GuessesAreLimited) {
  const Finding finding = judge_machine({}, "/home/ada/.config/huddle/machines/x.toml");
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.found, "not yet: /home/ada/.config/huddle/machines/x.toml is not there");
  EXPECT_EQ(finding.command, "huddle calibrate");
}

TEST(JudgeMachine, AFileOfEstimatesIsStillGuessing) {
  machine::LoadedMachine loaded;
  loaded.path = "/etc/huddle/machines/x.toml";
  EXPECT_THAT(judge_machine(loaded, "").found, HasSubstr("nothing in /etc/huddle/machines/x.toml"));
}

TEST(JudgeMachine, AMeasuredOneWorks) {
  machine::LoadedMachine loaded;
  loaded.path = "/x.toml";
  loaded.machine.line = {{.level = "machine", .origin = machine::Origin::measured}};
  loaded.machine.provenance.date = "2026-11-20T10:00:00Z";
  EXPECT_EQ(judge_machine(loaded, "").state, State::works);
  EXPECT_EQ(judge_machine(loaded, "").found, "/x.toml, measured 2026-11-20T10:00:00Z");
}

TEST(CheckMachineFile, ADamagedFileFailsAndIsNamed) {
  const test::Scratch scratch;
  const std::string path = scratch.write("machine.toml", "schema = \n");
  const auto findings = check_machine_file(path);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, State::fails);
  EXPECT_THAT(findings[0].found, HasSubstr(path + ":1"));
}

}  // namespace
}  // namespace huddle::doctor
