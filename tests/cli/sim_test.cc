// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string fabrics = HUDDLE_SOURCE_DIR "/machines/fabrics/";
const std::string dragonfly = fabrics + "dragonfly.toml";

Ran sim(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sim");
  return Program().run(arguments);
}

json sim_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Ran ran = sim(std::move(arguments));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out);
}

void expect_error(const std::vector<std::string>& arguments, int status,
                  const std::string& reason) {
  const Ran ran = sim(arguments);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(StartsWith("huddle: "), HasSubstr(reason)));
}

TEST(Sim, ComparesAllAlgorithmsTheFastestFirst) {
  const Ran ran = sim({"--fabric", dragonfly, "allgather", "8", "-n", "64"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("allgather of 8 among 64 of 16384 nodes, placed block\n"));
  const json document = sim_json({"--fabric", dragonfly, "allgather", "8", "-n", "64"});
  EXPECT_EQ(document["command"], "sim");
  double last_ns = 0;
  for (const json& row : document["algorithms"]) {
    EXPECT_GE(row["ns"], last_ns);
    last_ns = row["ns"];
    EXPECT_THAT(ran.out, HasSubstr(row["algorithm"].get<std::string>().substr(10)));
  }
  EXPECT_EQ(document["algorithms"].front()["algorithm"], "allgather:doubling");
}

TEST(Sim, SaysWhereTheTimeOfOneGoes) {
  const Ran ran = sim({"--fabric", dragonfly, "allgather:neighbor", "8K", "-n", "64"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("allgather:neighbor: "), HasSubstr("fullest link: node"),
                             HasSubstr("latency"), HasSubstr("beneath one switch")));
  const json row =
      sim_json({"--fabric", dragonfly, "allgather:neighbor", "8K", "-n", "64"})["algorithms"][0];
  EXPECT_EQ(row["rounds"], 32);
  EXPECT_EQ(row["bytes"], 64 * 63 * 8192);
  double sum_ns = 0;
  for (const json& part : row["goes_into_ns"]) sum_ns += part.get<double>();
  EXPECT_NEAR(sum_ns, row["ns"].get<double>(), 1e-6 * sum_ns);
}

// Neighbours that sit far from each other.
TEST(Sim, PlacementCounts) {
  const auto ns = [](const std::string& placement) {
    return sim_json({"--fabric", dragonfly, "allgather:neighbor", "8", "-n", "256", "--placement",
                     placement})["algorithms"][0]["ns"]
        .get<double>();
  };
  EXPECT_LT(ns("block"), ns("round-robin"));
  EXPECT_LT(ns("block"), ns("random:3"));
  EXPECT_EQ(ns("random:3"), ns("random:3"));
}

TEST(Sim, RefusesWhatCannotBeWithOneError) {
  expect_error({}, 2, "simulate what?");
  expect_error({"allgather", "8"}, 2, "on which fabric?");
  expect_error({"--fabric", dragonfly, "allgather"}, 2, "of how much?");
  expect_error({"--fabric", dragonfly, "allgather", "much"}, 2, "'much' is no size");
  expect_error({"--fabric", dragonfly, "allgather:rign", "8"}, 2, "did you mean");
  expect_error({"--fabric", dragonfly, "allgather", "8", "-n", "0"}, 2, "'0' is not");
  expect_error({"--fabric", dragonfly, "allgather", "8", "--placement", "tight"}, 2,
               "'tight' is no placement");
  expect_error({"--fabric", dragonfly, "allgather", "8", "--placement", "block:1"}, 2,
               "is no placement");
  expect_error({"--fabric", dragonfly, "bcast", "8", "--root", "70", "-n", "64"}, 2, "root 70");
  expect_error({"--fabric", dragonfly, "allgather", "8", "-n", "64", "--with", "luck"}, 2,
               "no judge 'luck'");
}

TEST(Sim, RefusesFilesThatAreNoFabricsWithFileAndLine) {
  const Program program;
  const auto file = [&program](const std::string& name, const std::string& text) {
    program.home().write(name, text);
    return program.home().path(name);
  };
  const std::string cyclic =
      file("cyclic.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
  expect_error({"--fabric", cyclic, "allgather", "8"}, 3, cyclic + ":");
  const std::string broken = file("broken.toml", "schema = 1\nname = \n");
  expect_error({"--fabric", broken, "allgather", "8"}, 3, broken + ":2: ");
  const std::string binary = file("binary", std::string("\x7f"
                                                        "ELF\2\1\1\0\0",
                                                        9));
  expect_error({"--fabric", binary, "allgather", "8"}, 3, binary + ":1: ");
  expect_error({"--fabric", program.home().path("none.toml"), "allgather", "8"}, 3, "none.toml");
  expect_error({"--fabric", fabrics + "dawning-4000a-ethernet.toml", "allgather", "8", "-n", "641"},
               3, "too small a fabric: 640 nodes for 641 ranks");
}

}  // namespace
}  // namespace huddle::cli
