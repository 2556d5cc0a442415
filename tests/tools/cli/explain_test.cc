// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "program.h"
#include "tools/cli/explain/explain_report.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string songshan_node = HUDDLE_SOURCE_DIR "/machines/songshan.toml";

// Returns an explanation for two uncalibrated cores with twelve candidates, the cheapest last.
Explained sample(int ranks) {
  Explained explained;
  explained.explanation = {{select::Operation::allreduce, 65536, 1}, ranks, false, {}};
  for (int i = 12; i > 0; --i) {
    explained.explanation.candidates.push_back(
        {select::DisseminationPlan{}, fmt::format("fragments of {}K", i), 1000.0 * i});
  }
  explained.subject.machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  explained.subject.machine.name = "two-cores";
  explained.subject.measurable = false;
  explained.processors = {0, 1};
  explained.error = 0.16;
  return explained;
}

Console console_with(int columns) {
  Console console;
  console.columns = columns;
  return console;
}

TEST(ExplainText, BeginsWithTheAnswer) {
  EXPECT_EQ(explain_text(sample(2), false, console_with(80)),
            "allreduce of 64K on 2 ranks: predicted 1 us\n"
            "  algorithm dissemination: fragments of 1K\n"
            "two-cores, uncalibrated: generic figures\n\n"
            "algorithm                        predicted    ratio\n"
            "dissemination: fragments of 1K        1 us     1.00\n"
            "dissemination: fragments of 2K        2 us     2.00\n"
            "dissemination: fragments of 3K        3 us     3.00\n"
            "dissemination: fragments of 4K        4 us     4.00\n"
            "dissemination: fragments of 5K        5 us     5.00\n"
            "dissemination: fragments of 6K        6 us     6.00\n"
            "dissemination: fragments of 7K        7 us     7.00\n"
            "dissemination: fragments of 8K        8 us     8.00\n"
            "dissemination: fragments of 9K        9 us     9.00\n"
            "dissemination: fragments of 10K      10 us    10.00\n"
            "2 more, up to 12 us; show them with --all\n"
            "Half of all predictions differ from the measured time by more than 16 %.\n");
}

// Returns the cheapest candidate, two within the prediction error, and one beyond it.
Explained tie() {
  Explained explained = sample(2);
  explained.explanation.candidates = {{select::DisseminationPlan{}, "radix 2", 1000},
                                      {select::DisseminationPlan{}, "radix 4", 1100},
                                      {select::TreeBarrierPlan{}, "flat", 1160},
                                      {select::TreeBarrierPlan{}, "chain", 1170}};
  return explained;
}

TEST(ExplainText, ShowsNearTiesAsOneGroup) {
  EXPECT_THAT(explain_text(tie(), false, console_with(80)),
              HasSubstr("algorithm                           predicted    ratio\n"
                        "dissemination, 2 variants: radix 2       1 us   ~ 1.00\n"
                        "tree: flat                            1.16 us   ~ 1.16\n"
                        "tree: chain                           1.17 us     1.17\n"
                        "Half of all predictions differ from the measured time by more than 16 %:\n"
                        "consider those marked ~ as equal.\n"));
  EXPECT_THAT(explain_text(tie(), true, console_with(80)),
              HasSubstr("\ndissemination: radix 4     1.1 us   ~ 1.10\n"));
}

TEST(ExplainJson, MarksNearTies) {
  const json document = json::parse(explain_json(tie()));
  EXPECT_EQ(document["model_error"], 0.16);
  std::vector<bool> marks;
  for (const json& candidate : document["candidates"]) marks.push_back(candidate["near_tie"]);
  EXPECT_THAT(marks, ElementsAre(true, true, true, false));
}

TEST(ExplainText, ReportsWhetherArraysAreInTheHeap) {
  Explained explained = tie();
  EXPECT_THAT(explain_text(explained, false, console_with(80)), Not(HasSubstr("heap")));
  explained.has_heap = true;
  EXPECT_THAT(explain_text(explained, false, console_with(80)), HasSubstr("saves no time here"));
  explained.explanation.request.mapped = true;
  EXPECT_THAT(explain_text(explained, false, console_with(80)),
              HasSubstr("arrays are in the shared heap"));
}

TEST(ExplainText, ShowsAllCandidatesOnRequest) {
  const std::string text = explain_text(sample(2), true, console_with(80));
  EXPECT_THAT(text, AllOf(HasSubstr("fragments of 12K"), Not(HasSubstr("--all"))));
}

TEST(ExplainText, FitsANarrowTerminal) {
  for (const int columns : {80, 50, 40, 30}) {
    std::istringstream lines(explain_text(sample(300), false, console_with(columns)));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
}

TEST(ExplainText, WarnsIfRanksShareCores) {
  EXPECT_THAT(explain_text(sample(3), false, console_with(80)), HasSubstr("ranks share them"));
  EXPECT_THAT(explain_text(sample(2), false, console_with(80)), Not(HasSubstr("ranks share them")));
}

TEST(ExplainText, IsBoldOnlyIfColorsAreOn) {
  Console console = console_with(80);
  EXPECT_THAT(explain_text(sample(2), false, console), Not(HasSubstr("\033")));
  console.color = true;
  EXPECT_THAT(explain_text(sample(2), false, console), StartsWith("\033[1mallreduce of 64K"));
}

Ran explain(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "explain");
  return Program().run(arguments);
}

TEST(Explain, WorksForAnotherMachine) {
  const Ran ran = explain({"bcast", "4M", "-n", "32", "--machine", songshan_node});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("bcast of 4M on 32 ranks: predicted "), HasSubstr("\nsongshan, "),
                    HasSubstr("\n"
                              "algorithm "),
                    HasSubstr("--all")));
  EXPECT_EQ(ran.err, "");
}

TEST(Explain, WorksForEveryOperationOfThisMachine) {
  for (const auto& [operation, size] : std::vector<std::pair<std::string, std::string>>{
           {"barrier", ""}, {"reduce", "1"}, {"bcast", "8"}, {"allreduce", "1.5M"}}) {
    std::vector<std::string> arguments = {operation};
    if (!size.empty()) arguments.push_back(size);
    const Ran ran = explain(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith(operation));
  }
}

TEST(Explain, AcceptsTheMpiNameOfACollective) {
  const Ran ran = explain({"MPI_Reduce_scatter_block", "8K", "-n", "2", "--machine", "songshan"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("reduce_scatter_block of 8K on 2 ranks"));
}

TEST(Explain, BindsLikeALauncher) {
  const auto processors = [](const std::string& word) {
    const Ran ran =
        explain({"barrier", "-n", "2", "--machine", "songshan", "--bind", word, "--json"});
    return json::parse(ran.out)["processors"];
  };
  EXPECT_EQ(processors("core"), (std::vector<int>{0, 1}));
  EXPECT_EQ(processors("numa"), (std::vector<int>{0, 8}));
}

TEST(Explain, OneRankHasNothingToDo) {
  EXPECT_EQ(explain({"bcast", "8", "-n", "1"}).out,
            "bcast of 8 on 1 rank: nothing to do for a single rank\n");
}

TEST(Explain, ZeroBytesNeedNoTransfer) {
  EXPECT_EQ(explain({"bcast", "0", "-n", "4"}).out,
            "bcast of 0 on 4 ranks: nothing to do for zero bytes\n");
}

TEST(Explain, PrintsJson) {
  const Ran ran = explain({"reduce", "64K", "-n", "40", "--machine", songshan_node, "--json"});
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["command"], "explain");
  EXPECT_EQ(document["operation"], "reduce");
  EXPECT_EQ(document["bytes"], 65536);
  EXPECT_EQ(document["ranks"], 40);
  EXPECT_EQ(document["calibrated"], false);
  EXPECT_EQ(document["machine"], "songshan");
  EXPECT_EQ(document["machine_file"], songshan_node);
  EXPECT_EQ(document["chosen"], document["candidates"][0]);
  EXPECT_GT(document["candidates"].size(), 10U);
  // One core after the other, then from the first again.
  ASSERT_EQ(document["processors"].size(), 40U);
  EXPECT_EQ(document["processors"][1], 1);
  EXPECT_EQ(document["processors"][32], document["processors"][0]);
}

std::string usage(std::vector<std::string> arguments) {
  const Ran ran = explain(std::move(arguments));
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  return ran.err;
}

TEST(Explain, ReportsValidArguments) {
  EXPECT_THAT(usage({}), HasSubstr("barrier, bcast, reduce, allreduce"));
  EXPECT_THAT(usage({"alreduce", "8"}),
              HasSubstr("unknown collective 'alreduce'; did you mean 'allreduce'?"));
  EXPECT_THAT(usage({"MPI_Alreduce", "8"}),
              HasSubstr("unknown collective 'MPI_Alreduce'; did you mean 'allreduce'?"));
  EXPECT_THAT(usage({"gossip"}), HasSubstr("use one of barrier, bcast, reduce, allreduce"));
  EXPECT_THAT(usage({"bcast"}), HasSubstr("huddle explain bcast 64K"));
  EXPECT_THAT(usage({"barrier", "8"}), HasSubstr("remove SIZE"));
  EXPECT_THAT(usage({"bcast", "8x"}), HasSubstr("'8x' is not a size"));
  EXPECT_THAT(usage({"bcast", "8", "-n", "0"}), HasSubstr("--ranks"));
}

TEST(Explain, DamagedMachineFileIsBadInput) {
  EXPECT_EQ(explain({"barrier", "--machine", "/no/such.toml"}).status, 3);
}

json between_nodes(std::vector<std::string> words) {
  words.insert(words.begin(), "explain");
  words.emplace_back("--json");
  const Ran ran = Program().run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out);
}

TEST(ExplainNodes, ShowsThePartsOfACollective) {
  const json allreduce = between_nodes(
      {"allreduce", "8", "--nodes", "16", "--ranks-per-node", "32", "--machine", songshan_node});
  EXPECT_EQ(allreduce["ranks"], 512);
  const json& parts = allreduce["parts"];
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0]["operation"], "reduce");
  EXPECT_EQ(parts[1]["where"], "between");
  EXPECT_EQ(parts[2]["operation"], "bcast");
  std::int64_t sum = 0;
  for (const json& part : parts) sum += part["predicted_ns"].get<std::int64_t>();
  EXPECT_EQ(allreduce["predicted_ns"], sum);
  EXPECT_GT(parts[0]["predicted_ns"], 0);
  EXPECT_TRUE(allreduce["mpi"].empty());
}

// The leaders' exchange is between the two phases of one barrier.
TEST(ExplainNodes, BarrierCostsTheNodesOneBarrier) {
  const json within = json::parse(
      Program().run({"explain", "barrier", "-n", "32", "--machine", songshan_node, "--json"}).out);
  double tree_ns = 0;
  for (const json& candidate : within["candidates"]) {
    const double ns = candidate["predicted_ns"];
    if (candidate["algorithm"] == "tree" && (tree_ns == 0 || ns < tree_ns)) tree_ns = ns;
  }
  const json barrier = between_nodes(
      {"barrier", "--nodes", "16", "--ranks-per-node", "32", "--machine", songshan_node});
  const json& parts = barrier["parts"];
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0]["phase"], "gather");
  EXPECT_EQ(parts[2]["phase"], "release");
  const double in_nodes_ns =
      parts[0]["predicted_ns"].get<double>() + parts[2]["predicted_ns"].get<double>();
  EXPECT_GT(tree_ns, 0);
  EXPECT_NEAR(in_nodes_ns, tree_ns, 2) << "both are rounded to whole nanoseconds";
}

TEST(ExplainNodes, ReportsTheNumberOfLeaders) {
  const std::vector<std::string> words = {"allreduce",        "16M", "--nodes",   "16",
                                          "--ranks-per-node", "32",  "--machine", songshan_node};
  const json allreduce = between_nodes(words);
  const json& parts = allreduce["parts"];
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0]["operation"], "reduce_scatter");
  EXPECT_GT(parts[1]["leaders"], 1);
  EXPECT_EQ(parts[2]["operation"], "allgatherv");
  EXPECT_LT(allreduce["predicted_ns"], allreduce["by_one_leader_ns"]);
  std::vector<std::string> as_text = words;
  as_text.insert(as_text.begin(), "explain");
  EXPECT_THAT(Program().run(as_text).out,
              AllOf(HasSubstr("leaders per node"), HasSubstr("With one leader per node")));
}

// Each node receives each block of another node once, whatever the placement.
TEST(ExplainNodes, CountsBytesBetweenNodes) {
  for (const std::vector<std::string>& placement : std::vector<std::vector<std::string>>{
           {"--nodes", "4", "--ranks-per-node", "2"},
           {"--nodes", "4", "--ranks-per-node", "2", "--map", "round-robin"},
           {"--map", "3,1,2,2"}}) {
    std::vector<std::string> words = {"allgather", "1000", "--machine", songshan_node};
    words.insert(words.end(), placement.begin(), placement.end());
    EXPECT_EQ(between_nodes(words)["parts"][1]["bytes"], 3 * 8 * 1000);
  }
}

// Sixteen nodes at one switch with one rank each: the same network for both commands.
class SixteenNodes {
 public:
  explicit SixteenNodes(std::string machine)
      : machine_(HUDDLE_SOURCE_DIR "/machines/" + std::move(machine) + ".toml") {
    program_.home_file("switch.toml",
                       "schema = 1\nname = \"one switch\"\n[[level]]\nname = \"leaf\"\nof = 16\n");
  }
  void force(const std::string& algorithm) { program_.environment("HUDDLE_NET_ALGO=" + algorithm); }
  // Returns the part between the nodes.
  json explained(const std::string& operation, const std::string& size) const {
    return ran({"explain", operation, size, "--nodes", "16", "--ranks-per-node", "1"})["parts"][1];
  }
  double simulated_ns(const std::string& algorithm, const std::string& size, int radix = 2) const {
    const std::string fabric = (program_.home().folder() / "switch.toml").string();
    return ran({"sim", algorithm, size, "-n", "16", "--radix", std::to_string(radix), "--fabric",
                fabric})["algorithms"][0]["ns"];
  }

 private:
  json ran(std::vector<std::string> words) const {
    std::erase(words, "");
    words.insert(words.end(), {"--machine", machine_, "--json"});
    const Ran ran = program_.run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
  }

  Program program_;
  std::string machine_;
};

TEST(ExplainNodes, ChoosesTheRadixThatIsFastestInTheSimulation) {
  for (const char* machine : {"dawning-5000a", "xeon-e5620-2s", "epyc-2x64-estimate"}) {
    const SixteenNodes nodes(machine);
    const json barrier = nodes.explained("barrier", "");
    const double ns = nodes.simulated_ns("barrier:dissemination", "", barrier["radix"]);
    EXPECT_NEAR(barrier["predicted_ns"].get<double>(), ns, 0.1 * ns) << machine;
    for (const int radix : {2, 4, 8, 16}) {
      EXPECT_GE(1.1 * nodes.simulated_ns("barrier:dissemination", "", radix), ns)
          << machine << " " << radix;
    }
  }
}

TEST(ExplainNodes, CostsPairsAndRingsLikeTheSimulation) {
  for (const char* algorithm : {"allgather:ring", "allgather:neighbor", "allgather:doubling"}) {
    SixteenNodes nodes("dawning-5000a");
    nodes.force(algorithm);
    const double ns = nodes.simulated_ns(algorithm, "256K");
    EXPECT_NEAR(nodes.explained("allgather", "256K")["predicted_ns"].get<double>(), ns, 0.1 * ns)
        << algorithm;
  }
}

TEST(ExplainNodes, ReportsTheMeasuredTimeOfTheMpi) {
  Program program;
  const std::string file = (program.home().folder() / "cluster.toml").string();
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  machine.name = "cluster";
  machine.mpi_collectives = {{"An MPI 1", "bcast", 2, 4, true, {{8, 65536}, {1, 2}, {}}},
                             {"An MPI 1", "allreduce", 2, 4, true, {{8, 65536}, {1, 2}, {}}}};
  machine::write_machine_file(machine, file);
  const auto answer = [&](const std::string& operation, const std::string& size) {
    return json::parse(
        program.run({"explain", operation, size, "--nodes", "2", "--machine", file, "--json"})
            .out)["mpi"];
  };
  EXPECT_EQ(answer("bcast", "8")[0]["measured_ns"], 1);
  EXPECT_EQ(answer("bcast", "8")[0]["left_to_it"], true);
  // Floating-point sums stay with huddle because the MPI may round them differently.
  EXPECT_EQ(answer("allreduce", "8")[0]["left_to_it"], false);
  EXPECT_TRUE(answer("bcast", "128K").empty());
  EXPECT_TRUE(answer("gather", "8").empty());
  EXPECT_THAT(program.run({"explain", "bcast", "8", "--nodes", "2", "--machine", file}).out,
              AllOf(HasSubstr("on 4 ranks of 2 nodes"), HasSubstr("falls back to it"),
                    HasSubstr("not measured: generic figures")));
}

TEST(ExplainNodes, ReportsUnmeasuredCallsThatFallBack) {
  const auto reason = [](const std::string& operation, const std::string& nodes,
                         const std::string& each) {
    return between_nodes({operation, "64K", "--nodes", nodes, "--ranks-per-node", each, "--machine",
                          songshan_node})["left_to_mpi_because"];
  };
  EXPECT_THAT(reason("bcast", "2", "1").get<std::string>(),
              HasSubstr("two ranks on different nodes"));
  EXPECT_TRUE(reason("bcast", "2", "2").is_null());
  EXPECT_THAT(reason("alltoall", "4", "32").get<std::string>(),
              HasSubstr("copies inside the nodes"));
}

TEST(ExplainNodes, ReportsMissingArguments) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"explain", "bcast", "8", "--machine", songshan_node});
    const Ran ran = Program().run(words);
    EXPECT_EQ(ran.status, 2);
    return ran.err;
  };
  EXPECT_THAT(refused({"--ranks-per-node", "2"}), HasSubstr("--nodes 16"));
  EXPECT_THAT(refused({"--map", "3,1,x"}), HasSubstr("such as 3,1,2,1"));
  EXPECT_THAT(refused({"--map", "3,0"}), HasSubstr("such as 3,1,2,1"));
  EXPECT_THAT(refused({"--map", "3,1", "--nodes", "3"}), HasSubstr("remove --nodes"));
  EXPECT_THAT(refused({"--map", "3,1", "--ranks-per-node", "3"}),
              HasSubstr("remove --ranks-per-node"));
  const Ran scan =
      Program().run({"explain", "scan", "8", "--nodes", "2", "--machine", songshan_node});
  EXPECT_EQ(scan.status, 2);
  EXPECT_THAT(scan.err, HasSubstr("the time of scan over several nodes cannot be predicted"));
}

}  // namespace
}  // namespace huddle::cli
