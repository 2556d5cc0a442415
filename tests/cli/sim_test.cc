// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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
  // A sanitizer may have its say about fibers before.
  EXPECT_THAT(ran.err, AllOf(HasSubstr("huddle: "), HasSubstr(reason)));
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

const std::string songshan = HUDDLE_SOURCE_DIR "/machines/songshan.toml";

TEST(SimInsideANode, RunsWhatExplainChooses) {
  const std::vector<std::string> question = {"bcast", "64K", "-n", "8", "--machine", songshan};
  std::vector<std::string> explain = question;
  explain.insert(explain.begin(), "explain");
  explain.push_back("--json");
  const json chosen = json::parse(Program().run(explain).out)["chosen"];
  const json document = sim_json(question);
  EXPECT_EQ(document["algorithm"], chosen["algorithm"]);
  EXPECT_EQ(document["parameters"], chosen["parameters"]);
  EXPECT_EQ(document["rank_ns"].size(), 8U);
  double last_ns = 0;
  for (const json& ns : document["rank_ns"]) last_ns = std::max(last_ns, ns.get<double>());
  EXPECT_EQ(document["simulated_ns"], last_ns);
  const Ran ran = sim(question);
  EXPECT_THAT(ran.out, AllOf(StartsWith("bcast of 64K on 8 ranks: simulated "),
                             HasSubstr("The busiest: "), HasSubstr("memory of 0-7")));
}

TEST(SimInsideANode, SaysTheSameTwice) {
  std::vector<std::string> words = {"allreduce", "256K",   "-n",    "32",
                                    "--machine", songshan, "--json"};
  EXPECT_EQ(sim(words).out, sim(words).out);
}

TEST(SimInsideANode, TracesForPerfetto) {
  const Program program;
  const std::string trace = testing::TempDir() + "/huddle-sim-trace.json";
  const Ran ran =
      sim({"bcast:pipelined", "64K", "-n", "4", "--machine", songshan, "--trace", trace});
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::ifstream file(trace);
  const json document = json::parse(file);
  int copies = 0;
  for (const json& event : document["traceEvents"]) copies += event["name"] == "copy" ? 1 : 0;
  EXPECT_GE(copies, 4);
  std::filesystem::remove(trace);
}

TEST(SimInsideANode, HoldsPricesAgainstProtocols) {
  const std::string small = HUDDLE_SOURCE_DIR "/machines/dawning-4000a.toml";
  const json document = sim_json({"--against-prices", "--machine", small});
  int agreeing = 0;
  for (const json& point : document["points"]) {
    const double ratio = point["simulated_ns"].get<double>() / point["predicted_ns"].get<double>();
    agreeing += ratio <= 1.5 && ratio >= 1 / 1.5 ? 1 : 0;
  }
  EXPECT_NEAR(document["agreeing"].get<double>(),
              static_cast<double>(agreeing) / static_cast<double>(document["points"].size()), 1e-9);
  EXPECT_THAT(sim({"--against-prices", "--machine", small}).out, HasSubstr(" within 1.5 times"));
}

TEST(SimInsideANode, IsAColumnOfExplain) {
  const Ran ran =
      Program().run({"explain", "barrier", "-n", "8", "--machine", songshan, "--simulate"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("simulated"));
}

TEST(SimInsideANode, RefusesWhatCannotBe) {
  expect_error({"bcast", "8", "-n", "64", "--machine", songshan}, 2, "64 ranks on 32 cores");
  expect_error({"bcast", "8", "--bind", "0-3,99", "--machine", songshan}, 3, "no processor 99");
  expect_error({"bcast", "8", "--algorithm", "pipelind", "--machine", songshan}, 2, "did you mean");
  expect_error({"bcats", "8", "--machine", songshan}, 2, "did you mean");
  expect_error({"bcast", "8", "--machine", songshan, "--trace", "/proc/none/trace.json"}, 1,
               "/proc/none");
  expect_error({"--against-prices", "bcast", "8", "--machine", songshan}, 2, "leave OPERATION");
}

TEST(Sim, RefusesWhatCannotBeWithOneError) {
  expect_error({}, 2, "simulate what?");
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
