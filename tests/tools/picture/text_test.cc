// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares whole pictures in characters with files. HUDDLE_UPDATE_GOLDEN=1 rewrites the files.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "common/text.h"
#include "machines.h"

namespace huddle::picture {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Golden {
  std::string file;
  std::string synthetic;  // empty: the hybrid machine
  Style style;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file; }

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class GoldenText : public testing::TestWithParam<Golden> {};

TEST_P(GoldenText, IsUnchanged) {
  const Golden& golden = GetParam();
  const Subject subject = golden.synthetic.empty() ? hybrid() : synthetic(golden.synthetic);
  const std::string path =
      std::string(HUDDLE_SOURCE_DIR) + "/tests/tools/picture/golden/" + golden.file + ".txt";
  const std::string drawn = as_text(subject, golden.style);
  if (std::getenv("HUDDLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << drawn;
  EXPECT_EQ(drawn, contents(path)) << "look at the change, then run with HUDDLE_UPDATE_GOLDEN=1";
}

// Returns a file of unknown origin with an escape sequence in every displayed string.
Subject hostile() {
  Subject subject = synthetic("pack:2 core:2 pu:1");
  const std::string order = "\x1b[31m";
  subject.path = order;
  subject.machine.name = order;
  subject.machine.topology.cpu_model = order;
  subject.machine.topology.kinds = {{order, 1, subject.machine.topology.pus}};
  subject.machine.topology.numa = {
      {.number = 0, .cpus = subject.machine.topology.pus, .kind = order}};
  subject.machine.provenance.tool = order;
  subject.machine.provenance.date = order;
  subject.machine.line[0].origin = machine::Origin::measured;
  subject.machine.doubts = {{order, order}};
  return subject;
}

TEST(Pictures, FileCannotControlTheTerminal) {
  EXPECT_THAT(as_text(hostile(), {80, false, true}),
              AllOf(HasSubstr("?[31m"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(as_svg(hostile()), Not(HasSubstr("\x1b")));
}

TEST(Pictures, SuggestsCalibrationOnlyForThisMachine) {
  Subject subject = synthetic("core:2 pu:1");
  EXPECT_THAT(as_text(subject, {80, false, true}), HasSubstr("run 'huddle calibrate'"));
  subject.measurable = false;
  EXPECT_THAT(as_text(subject, {80, false, true}), Not(HasSubstr("calibrate'")));
}

INSTANTIATE_TEST_SUITE_P(
    Pictures, GoldenText,
    testing::Values(Golden{"one-core", "core:1 pu:1", {80, false, true}},
                    Golden{"two-sockets", "pack:2 l3:2 core:2 pu:2", {80, false, true}},
                    Golden{"two-sockets-color", "pack:2 l3:1 core:2 pu:1", {80, true, true}},
                    Golden{"eight-sockets-narrow", "pack:8 core:10 pu:2", {40, false, false}},
                    Golden{"many-cores", "pack:2 numa:4 l3:2 core:8 pu:2", {80, false, true}},
                    Golden{"folded", "pack:4 numa:4 l3:4 core:8 pu:2", {80, false, true}},
                    Golden{"hybrid", "", {80, false, true}},
                    Golden{"hybrid-narrow", "", {40, false, false}}),
    [](const auto& golden) { return std::regex_replace(golden.param.file, std::regex("-"), "_"); });

std::string without_codes(const std::string& text) {
  static const std::regex code("\x1b\\[[0-9;]*m");
  return std::regex_replace(text, code, "");
}

RC_GTEST_PROP(Text, FitsTheTerminal, ()) {
  const machine::Topology topology = any_topology();
  Subject subject{with_latencies(topology), any_allowed(topology), ""};
  subject.machine.doubts = {{"pair 0-1", "two humps, at 40 ns and at 80 ns, in 12 of 32 samples"}};
  const Style style{*rc::gen::inRange(40, 200), *rc::gen::arbitrary<bool>(),
                    *rc::gen::arbitrary<bool>()};
  std::istringstream lines(without_codes(as_text(subject, style)));
  for (std::string line; std::getline(lines, line);) {
    RC_ASSERT(display_width(line) <= static_cast<std::size_t>(style.columns));
  }
}

RC_GTEST_PROP(Text, IsPlainAsciiWithoutUnicodeAndColor, ()) {
  const machine::Topology topology = any_topology();
  const Subject subject{with_latencies(topology), any_allowed(topology), ""};
  for (const char c : as_text(subject, {80, false, false})) {
    RC_ASSERT(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

TEST(Text, SurvivesAnExtremelyNarrowTerminal) {
  EXPECT_THAT(as_text(synthetic("pack:2 numa:2 core:4 pu:2"), {1, true, true}), HasSubstr("12"));
}

TEST(Text, ReportsTheOriginOfFigures) {
  Subject subject = synthetic("pack:2 core:2 pu:1");
  EXPECT_THAT(as_text(subject, {}), HasSubstr("uncalibrated: generic figures; run 'huddle cal"));
  subject.path = "m.toml";
  EXPECT_THAT(as_text(subject, {}),
              HasSubstr("uncalibrated: every figure is an estimate (m.toml)"));
  subject.machine.line[0].origin = machine::Origin::published;
  EXPECT_THAT(as_text(subject, {}), HasSubstr("not measured by huddle: published figures"));
  subject.machine.line[0].origin = machine::Origin::measured;
  subject.machine.provenance.date = "2026-11-20T10:00:00Z";
  EXPECT_THAT(as_text(subject, {}), HasSubstr("calibrated: measured 2026-11-20 (m.toml)"));
}

// A reader must see in the picture itself whether its figures are estimates, and based on what.
TEST(Pictures, LegendStatesTheOriginOfTheFigures) {
  Subject subject = synthetic("pack:2 core:2 pu:1");
  const std::string generic = "Origin of the figures: generic estimates";
  EXPECT_THAT(as_text(subject, {}), HasSubstr(generic));
  EXPECT_THAT(as_svg(subject), HasSubstr(generic));
  subject.path = "m.toml";
  subject.machine.provenance.method = "data sheet";
  subject.machine.provenance.sources = {"EPYC 9554", "DDR5"};
  const std::string estimated = "figures: data sheet. Sources: EPYC 9554; DDR5";
  EXPECT_THAT(as_text(subject, {}), HasSubstr(estimated));
  EXPECT_THAT(as_svg(subject), HasSubstr(estimated));
  ASSERT_EQ(subject.machine.line.size(), 2U);
  subject.machine.line[0].origin = machine::Origin::measured;
  EXPECT_THAT(as_text(subject, {}), HasSubstr("figures: 1 of 2 entries of the machine file were"));
  subject.machine.line[1].origin = machine::Origin::measured;
  EXPECT_THAT(as_svg(subject), HasSubstr("figures: all figures of the machine file were measured"));
}

TEST(Text, ListsUnsteadyMeasurementsIfThereAreAny) {
  Subject subject = synthetic("core:2 pu:1");
  EXPECT_THAT(as_text(subject, {}), Not(HasSubstr("Doubtful")));
  subject.machine.doubts = {{"pair 0-1", "two humps"}};
  EXPECT_THAT(as_text(subject, {}), HasSubstr("Unsteady measurements:\n"
                                              "- pair 0-1: two humps\n"));
}

}  // namespace
}  // namespace huddle::picture
