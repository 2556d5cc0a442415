// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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
  // A sanitizer may print messages about fibers first.
  EXPECT_THAT(ran.err, AllOf(HasSubstr("huddle: "), HasSubstr(reason)));
}

TEST(Sim, ComparesAllAlgorithmsFastestFirst) {
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

TEST(Sim, NamesTheFastestAlgorithmAndTheOptionThatRunsIt) {
  EXPECT_THAT(
      sim({"--fabric", "fat-tree-2to1", "allgather", "120K", "-n", "64"}).out,
      HasSubstr("\nFastest: allgather:sparbit. 'huddle run --net-algo allgather:sparbit' "));
  EXPECT_THAT(sim({"--fabric", "fat-tree-2to1", "allgather:ring", "120K", "-n", "64"}).out,
              Not(HasSubstr("Fastest")));
}

TEST(Sim, ReportsTheCausesOfTheTime) {
  const Ran ran = sim({"--fabric", dragonfly, "allgather:neighbor", "8K", "-n", "64"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("allgather:neighbor: "), HasSubstr("busiest link: node"),
                             HasSubstr("latency"), HasSubstr("leaf")));
  const json row =
      sim_json({"--fabric", dragonfly, "allgather:neighbor", "8K", "-n", "64"})["algorithms"][0];
  EXPECT_EQ(row["rounds"], 32);
  EXPECT_EQ(row["bytes"], 64 * 63 * 8192);
  double sum_ns = 0;
  for (const json& part : row["goes_into_ns"]) sum_ns += part.get<double>();
  EXPECT_NEAR(sum_ns, row["ns"].get<double>(), 1e-6 * sum_ns);
}

// Neighbours are placed far apart.
TEST(Sim, PlacementMatters) {
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

TEST(SimInsideANode, RunsTheChoiceOfExplain) {
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
                             HasSubstr("Busiest resource: "), HasSubstr("memory of 0-7")));
}

TEST(SimInsideANode, IsReproducible) {
  std::vector<std::string> words = {"allreduce", "256K",   "-n",    "32",
                                    "--machine", songshan, "--json"};
  EXPECT_EQ(sim(words).out, sim(words).out);
}

TEST(SimInsideANode, WritesTracesForPerfetto) {
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

TEST(SimInsideANode, ComparesPredictionsWithProtocols) {
  const std::string small = HUDDLE_SOURCE_DIR "/machines/dawning-4000a.toml";
  const json document = sim_json({"--compare-predictions", "--machine", small});
  int agreeing = 0;
  for (const json& point : document["points"]) {
    const double ratio = point["simulated_ns"].get<double>() / point["predicted_ns"].get<double>();
    agreeing += ratio <= 1.5 && ratio >= 1 / 1.5 ? 1 : 0;
  }
  EXPECT_NEAR(document["agreeing"].get<double>(),
              static_cast<double>(agreeing) / static_cast<double>(document["points"].size()), 1e-9);
  EXPECT_THAT(sim({"--compare-predictions", "--machine", small}).out,
              HasSubstr(" differ by at most a factor of 1.5"));
}

TEST(SimInsideANode, IsAColumnOfExplain) {
  const Ran ran =
      Program().run({"explain", "barrier", "-n", "8", "--machine", songshan, "--simulate"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("simulated"));
}

TEST(SimInsideANode, UsesTheRoot) {
  const auto rank_ns = [](const std::string& operation, const std::string& root) {
    const json document =
        sim_json({operation, "64K", "-n", "16", "--machine", songshan, "--root", root,
                  "--algorithm", operation == "gather" ? "pairwise" : "pipelined"});
    EXPECT_EQ(std::to_string(document["root"].get<int>()), root);
    return document["rank_ns"].get<std::vector<double>>();
  };
  // The root of a gather finishes last.
  for (const int root : {0, 5}) {
    const std::vector<double> ns = rank_ns("gather", std::to_string(root));
    EXPECT_EQ(std::max_element(ns.begin(), ns.end()) - ns.begin(), root);
  }
  EXPECT_NE(rank_ns("bcast", "0"), rank_ns("bcast", "9"));
  EXPECT_THAT(sim({"bcast", "64K", "-n", "8", "--machine", songshan, "--root", "3"}).out,
              StartsWith("bcast of 64K on 8 ranks, root 3: simulated "));
}

TEST(SimInsideANode, RefusesOptionsForSchedulesBetweenNodes) {
  for (const char* const option : {"--placement=random", "--radix=4", "--segments=2",
                                   "--message-blocks=2", "--reference=simgrid"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    expect_error({"bcast", "8", "-n", "8", "--machine", songshan, option}, 2,
                 name + " needs --fabric");
  }
  expect_error({"bcast", "8", "-n", "8", "--machine", songshan, "--root", "8"}, 2,
               "ranks are numbered from 0 to 7");
  expect_error({"allreduce", "8", "-n", "8", "--machine", songshan, "--root", "1"}, 2,
               "allreduce has no root");
  expect_error({"--compare-predictions", "--machine", songshan, "--root", "1"}, 2, "--root");
}

TEST(SimInsideANode, ShowsItsProgress) {
  const Ran ran =
      sim({"allreduce", "64M", "-n", "2", "--machine", songshan, "--progress", "always"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(" %"), HasSubstr("allreduce of 64M on 2 ranks")));
  EXPECT_THAT(sim({"allreduce", "8", "-n", "2", "--machine", songshan}).err,
              Not(HasSubstr("allreduce of")));
}

TEST(Sim, AcceptsNamesOfMachinesAndFabrics) {
  const std::vector<std::string> by_path = {"--fabric", dragonfly, "allgather", "8", "-n", "64"};
  EXPECT_EQ(sim({"--fabric", "dragonfly", "allgather", "8", "-n", "64"}).out, sim(by_path).out);
  const std::vector<std::string> question = {"--fabric", "dragonfly", "allgather", "8", "-n", "64"};
  const auto on = [&question](const std::string& machine) {
    std::vector<std::string> words = question;
    words.insert(words.end(), {"--machine", machine});
    return sim(words);
  };
  EXPECT_EQ(on("dawning-4000a").out, on(HUDDLE_SOURCE_DIR "/machines/dawning-4000a.toml").out);
  EXPECT_EQ(on("dawning-4000a").status, 0) << on("dawning-4000a").err;
  expect_error({"--fabric", "dragnfly", "allgather", "8"}, 3,
               "unknown fabric 'dragnfly'; did you mean 'dragonfly'?");
  expect_error({"--fabric", "torus", "allgather", "8"}, 3, "; use one of ");
  expect_error({"--fabric", "dragonfly", "--machine", "songshn", "allgather", "8"}, 3,
               "did you mean 'songshan'?");
}

TEST(Sim, ListsMachinesAndFabrics) {
  EXPECT_THAT(sim({"--list-fabrics"}).out, testing::ContainsRegex("dragonfly +16384 nodes\n"));
  const json listed = sim_json({"--list-fabrics"});
  EXPECT_EQ(listed["what"], "fabrics");
  EXPECT_EQ(listed["fabrics"][0]["name"], "dawning-4000a-ethernet");
  EXPECT_THAT(sim({"--list-machines"}).out, HasSubstr("songshan"));
  EXPECT_EQ(sim_json({"--list-machines"})["command"], "sim");
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Sim, ReadsStandardInput) {
  const std::vector<std::string> question = {"allgather", "8", "-n", "64", "--machine", songshan};
  const auto with = [&question](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"sim"};
    words.insert(words.end(), question.begin(), question.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  Program program;
  program.input(text_of(fabrics + "fat-tree-1to1.toml"));
  const Ran piped = program.run(with({"--fabric", "-"}));
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, program.run(with({"--fabric", "fat-tree-1to1"})).out);
  program.input(text_of(songshan));
  const Ran described = program.run({"sim", "bcast", "64K", "-n", "8", "--machine", "-"});
  EXPECT_EQ(described.out, sim({"bcast", "64K", "-n", "8", "--machine", songshan}).out);
  program.input("schema = 1\nname = \n");
  EXPECT_THAT(program.run(with({"--fabric", "-"})).err, HasSubstr("standard input:2: "));
  EXPECT_THAT(program.run({"sim", "--fabric", "-", "--machine", "-", "allgather", "8"}).err,
              HasSubstr("cannot both be read from standard input"));
}

TEST(SimInsideANode, ReportsInvalidArguments) {
  expect_error({"bcast", "8", "-n", "64", "--machine", songshan}, 2, "64 ranks on 32 cores");
  expect_error({"bcast", "8", "--bind", "0-3,99", "--machine", songshan}, 3,
               "no hardware thread 99");
  expect_error({"bcast", "8", "--algorithm", "pipelind", "--machine", songshan}, 2, "did you mean");
  expect_error({"bcats", "8", "--machine", songshan}, 2, "did you mean");
  expect_error({"bcast", "8", "--machine", songshan, "--trace", "/proc/none/trace.json"}, 1,
               "/proc/none");
  expect_error({"--compare-predictions", "bcast", "8", "--machine", songshan}, 2,
               "remove OPERATION");
}

TEST(Sim, ReportsInvalidArgumentsWithOneError) {
  expect_error({}, 2, "simulate what?");
  expect_error({"--fabric", dragonfly, "allgather"}, 2, "is missing");
  expect_error({"--fabric", dragonfly, "allgather", "much"}, 2, "'much' is not a size");
  expect_error({"--fabric", dragonfly, "allgather:rign", "8"}, 2, "did you mean");
  expect_error({"--fabric", dragonfly, "allgather", "8", "-n", "0"}, 2, "'0' is not");
  expect_error({"--fabric", dragonfly, "allgather", "8", "--placement", "tight"}, 2,
               "unknown placement 'tight'");
  expect_error({"--fabric", dragonfly, "allgather", "8", "--placement", "block:1"}, 2,
               "unknown placement");
  expect_error({"--fabric", dragonfly, "bcast", "8", "--root", "70", "-n", "64"}, 2, "root 70");
  expect_error({"--fabric", dragonfly, "allgather", "8", "-n", "64", "--reference", "luck"}, 2,
               "not 'luck'");
}

TEST(Sim, ReportsInvalidFabricsWithFileAndLine) {
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
               3, "the fabric is too small: 640 nodes for 641 ranks");
}

}  // namespace
}  // namespace huddle::cli
