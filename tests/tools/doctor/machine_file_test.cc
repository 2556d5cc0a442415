// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../common/scratch.h"
#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

const ThisMachine here = {fingerprint(machine::Topology{}), "/home/ada/x.toml"};
const NamedFile searched = {};

machine::LoadedMachine measured() {
  machine::LoadedMachine loaded;
  loaded.path = "/x.toml";
  loaded.machine.line = {{.level = "machine", .origin = machine::Origin::measured}};
  loaded.machine.provenance.date = "2026-11-20T10:00:00Z";
  return loaded;
}

TEST(JudgeMachine, GuessesAreLimited) {
  const Finding finding = judge_machine({}, here, searched);
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.found, "missing: /home/ada/x.toml does not exist");
  EXPECT_EQ(finding.command, "huddle calibrate");
}

TEST(JudgeMachine, FileOfEstimatesIsLimited) {
  machine::LoadedMachine loaded;
  loaded.path = "/etc/huddle/machines/x.toml";
  EXPECT_THAT(judge_machine(loaded, here, searched).found,
              HasSubstr("/etc/huddle/machines/x.toml contains no measured figures"));
}

TEST(JudgeMachine, MeasuredFileWorks) {
  EXPECT_EQ(judge_machine(measured(), here, searched).state, State::works);
  EXPECT_EQ(judge_machine(measured(), here, searched).found,
            "/x.toml, measured 2026-11-20T10:00:00Z");
}

TEST(JudgeMachine, QuickRunIsLimited) {
  machine::LoadedMachine loaded = measured();
  loaded.machine.provenance.method = "quick calibration: 40 measurements";
  const Finding finding = judge_machine(loaded, here, searched);
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.found, "/x.toml, measured 2026-11-20T10:00:00Z quickly");
  EXPECT_THAT(finding.cost, HasSubstr("quick run"));
  EXPECT_EQ(finding.command, "huddle calibrate");
}

TEST(JudgeMachine, UnsteadyRunIsLimited) {
  machine::LoadedMachine loaded = measured();
  loaded.machine.provenance.method = "full calibration: 86 measurements";
  loaded.machine.doubts = {{"lines", "samples spread by 60 %"}, {"copy, 1 core alone", "drift"}};
  const Finding finding = judge_machine(loaded, here, searched);
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_THAT(finding.found, HasSubstr("; 2 steps unsteady (lines, ...)"));
  EXPECT_THAT(finding.cost, HasSubstr("disturbed"));
  const Finding named = judge_machine(loaded, here, {"/x.toml", "HUDDLE_MACHINE"});
  EXPECT_EQ(named.command, "") << "it would not write there";
}

TEST(JudgeMachine, FileOfAnotherMachineIsLimited) {
  const ThisMachine other = {"other-2c-01234567", "/home/ada/x.toml"};
  const Finding found = judge_machine(measured(), other, searched);
  EXPECT_EQ(found.state, State::limited);
  EXPECT_THAT(found.found, HasSubstr("this machine is other-2c-01234567"));
  EXPECT_EQ(found.command, "huddle calibrate");
  const Finding given = judge_machine(measured(), other, {"/x.toml", "HUDDLE_MACHINE"});
  EXPECT_EQ(given.command, "") << "it would not write there";
  EXPECT_THAT(given.remedy, HasSubstr("Correct HUDDLE_MACHINE"));
}

TEST(CheckMachineFile, DamagedFileFails) {
  const test::Scratch scratch;
  const std::string path = scratch.write("machine.toml", "schema = \n");
  const auto [findings, is_calibrated] =
      check_machine_file({path, "--machine"}, System("/nowhere"));
  EXPECT_FALSE(is_calibrated);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, State::fails);
  EXPECT_THAT(findings[0].found, HasSubstr(path + ":1"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("Correct --machine"));
  EXPECT_EQ(findings[0].command, "");
}

}  // namespace
}  // namespace huddle::doctor
