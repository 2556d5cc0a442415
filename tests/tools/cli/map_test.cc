// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs `huddle map` as a user would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string two_sockets = HUDDLE_SOURCE_DIR "/machines/xeon-e5-2620v4-2s.toml";
const std::string two_sockets_of_64 = HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml";

// Returns a ring whose neighbours differ by `step`. 5 and 16 have no common divisor.
std::string ring_csv(int elements, int step) {
  std::string text;
  for (int row = 0; row < elements; ++row) {
    for (int column = 0; column < elements; ++column) {
      const int apart = (column - row + elements) % elements;
      const bool talk = apart == step || apart == elements - step;
      text += fmt::format("{}{}", column > 0 ? "," : "", talk ? 4096 : 0);
    }
    text += '\n';
  }
  return text;
}

class Map : public testing::Test {
 protected:
  Ran map(std::vector<std::string> more, const std::string& matrix = ring_csv(16, 5)) {
    const std::string path = program_.home().write("ring.csv", matrix);
    std::vector<std::string> words = {"map", path, "--machine", two_sockets};
    words.insert(words.end(), more.begin(), more.end());
    return program_.run(words);
  }
  Program program_;
};

TEST_F(Map, ShowsBothPlacementsAndTheReason) {
  const Ran ran = map({});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("16 elements, 16 pairs that communicate"),
                             HasSubstr("% of the predicted time saved, "), HasSubstr("why: tree:"),
                             HasSubstr("bytes between each pair"), HasSubstr("bytes: .. none, ##"),
                             HasSubstr("placement (.: free)"), HasSubstr("l3 0-7:")));
}

TEST_F(Map, JsonHasEachElementOnce) {
  const json document = json::parse(map({"--json"}).out);
  EXPECT_EQ(document["command"], "map");
  EXPECT_EQ(document["advice"], "move");
  EXPECT_LT(document["after"]["hop_bytes"], document["before"]["hop_bytes"]);
  const json& before = document["before"]["predicted"];
  EXPECT_NEAR(before["communication_ns"], document["before"]["hop_bytes"].get<double>() / 64, 1e-6);
  EXPECT_EQ(before["ns"], before["communication_ns"]);
  EXPECT_TRUE(before["memory_ns"].is_null());
  std::vector<int> processors;
  for (const json& assignment : document["placement"])
    processors.push_back(assignment["processor"]);
  std::sort(processors.begin(), processors.end());
  ASSERT_EQ(processors.size(), 16U);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(processors[static_cast<std::size_t>(i)], i);
}

TEST_F(Map, KeepsGoodPlacements) {
  EXPECT_THAT(map({}, ring_csv(16, 1)).out, HasSubstr("keep the current placement"));
  EXPECT_THAT(map({"--min-gain", "90"}).out, HasSubstr("is less than"));
  const Ran silent = map({}, "0,0\n0,0\n");
  EXPECT_EQ(silent.status, 0);
  EXPECT_THAT(silent.out, HasSubstr("nothing to gain: no two ranks or threads communicate"));
  const Ran emitted = map({"--min-gain", "90", "--emit", "gomp"});
  EXPECT_EQ(emitted.out, "GOMP_CPU_AFFINITY='0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15'\n");
  EXPECT_THAT(emitted.err, HasSubstr("this is the current placement; keep the current placement"));
}

// Returns a profile of threads in a row with `events` sampled events, each of a page of 4 KiB.
std::string profile_of_a_row(int threads, int events) {
  std::string text = fmt::format(
      R"({{"schema": "huddle-comm", "version": 1, "kind": "threads", "n": {},
          "events": {{"total": {}, "dispersion": 1}}, "entries": [)",
      threads, events);
  // The numbers of neighbours differ by five, as in the ring above.
  for (int t = 0; t + 1 < threads; ++t) {
    const int share = events / (threads - 1) + (t < events % (threads - 1) ? 1 : 0);
    text += fmt::format("{}[{}, {}, {}, {}]", t == 0 ? "" : ", ", 5 * t % threads,
                        5 * (t + 1) % threads, 4096 * share, share);
  }
  return text + "]}\n";
}

TEST_F(Map, ThinProfilesMoveNothing) {
  for (const int events : {36, 112}) {
    const std::string profile = profile_of_a_row(16, events);
    const Ran ran = map({}, profile);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out,
                HasSubstr(fmt::format(
                    "keep the current placement: {} sampled events are too few to place 16 threads",
                    events)));
    // A matrix of few events does not look like one of many.
    EXPECT_THAT(ran.out, AllOf(HasSubstr(fmt::format("from {} sampled events", events)),
                               HasSubstr("bytes: .. none, :: to"), Not(HasSubstr("##"))));
    const json document = json::parse(map({"--json"}, profile).out);
    EXPECT_EQ(document["advice"], "leave");
    EXPECT_EQ(document["matrix"]["events"]["evidence"], "too few events");
    for (const json& assignment : document["placement"])
      EXPECT_EQ(assignment["processor"], assignment["element"]);
    const Ran emitted = map({"--emit", "gomp"}, profile);
    EXPECT_EQ(emitted.out, "GOMP_CPU_AFFINITY='0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15'\n");
    EXPECT_THAT(emitted.err, HasSubstr("sampled events"));
  }
  EXPECT_THAT(map({}, profile_of_a_row(16, 1000)).out,
              AllOf(HasSubstr("from 1000 sampled events"), HasSubstr("##"),
                    HasSubstr("with a confidence of 98 %")));
  const json document = json::parse(map({"--json"}, profile_of_a_row(16, 1000)).out);
  EXPECT_EQ(document["advice"], "move") << document["reason"];
  EXPECT_LT(document["certain_gain"], document["gain"]);
}

TEST_F(Map, ProfileWithoutEventsIsReadWithANote) {
  const Ran ran = map({}, R"({"schema": "huddle-comm", "version": 1, "kind": "threads", "n": 2,
                              "entries": [[0, 1, 4096]]})");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("does not contain its numbers of events"),
                             Not(HasSubstr("by direction"))));
}

// Tests the numbers of elements on each socket of a machine with two sockets of 64 cores.
class MapOnTwoSockets : public Map {
 protected:
  json halo(std::vector<std::string> more) {
    const std::string path = program_.home().write("ring64.csv", ring_csv(64, 1));
    std::vector<std::string> words = {"map", path, "--json", "--machine", two_sockets_of_64};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = program_.run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
  }
  static std::vector<int> per_socket(const json& document) {
    std::vector<int> counts(2, 0);
    for (const json& assignment : document["placement"])
      ++counts[assignment["processor"].get<int>() / 64];
    return counts;
  }
};

TEST_F(MapOnTwoSockets, SocketsAreBalancedByDefault) {
  const json document = halo({});
  EXPECT_EQ(per_socket(document), std::vector<int>({32, 32}));
  EXPECT_EQ(document["warning"], "");
  EXPECT_GT(document["memory_gb_per_s"], 150);
}

TEST_F(MapOnTwoSockets, PackingFillsOneSocketAndWarns) {
  const json document = halo({"--pack"});
  EXPECT_EQ(per_socket(document), std::vector<int>({64, 0}));
  EXPECT_LT(document["memory_gb_per_s"], 130);
  EXPECT_THAT(document["warning"].get<std::string>(), HasSubstr("memory bandwidth"));
}

TEST_F(MapOnTwoSockets, PresentPlacementIsNotConcentrated) {
  std::string assignments;
  for (int element = 0; element < 64; ++element) {
    assignments += fmt::format("{}={}\n", element, element % 2 * 64 + element / 2);
  }
  const std::string present = program_.home().write("present", assignments);
  EXPECT_EQ(per_socket(halo({"--current", present})), std::vector<int>({32, 32}));
}

TEST_F(Map, KeepsFixedElementsAndAllowedSlots) {
  const json document =
      json::parse(map({"--fixed", "3=12,4=1:2", "--cpus", "0-3,12", "--nodes", "4", "--json"}).out);
  for (const json& assignment : document["placement"]) {
    const int processor = assignment["processor"];
    EXPECT_TRUE(processor <= 3 || processor == 12) << assignment;
    if (assignment["element"] == 3) {
      EXPECT_EQ(assignment, json({{"element", 3}, {"node", 0}, {"processor", 12}}));
    }
    if (assignment["element"] == 4) {
      EXPECT_EQ(assignment, json({{"element", 4}, {"node", 1}, {"processor", 2}}));
    }
  }
}

TEST_F(Map, StartsFromThePresentPlacement) {
  std::string assignments;
  for (int element = 0; element < 16; ++element) {
    assignments += fmt::format("{}={}\n", element, (13 * element) % 16);
  }
  const std::string present = program_.home().write("present", assignments);
  EXPECT_THAT(map({"--current", present}).out, HasSubstr("keep the current placement"))
      << "the ring of step 5 lies in order there";
  const std::string wrong = program_.home().write("wrong", "0=1\nx\n");
  const Ran ran = map({"--current", wrong});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("wrong:2: 'x' is not of the form ELEMENT=HARDWARE_THREAD"));
}

TEST_F(Map, ComparesAllMethods) {
  const std::string table = map({"--compare"}).out;
  for (const char* method :
       {"current", "order", "compact", "scatter", "random", "lh", "tree", "exact"}) {
    EXPECT_THAT(table, HasSubstr(fmt::format("\n{} ", method)));
  }
  const json document = json::parse(map({"--compare", "--json"}).out);
  EXPECT_EQ(document["methods"].size(), 8U);
  EXPECT_EQ(document["methods"][0]["gain"], 0);
}

// Eight threads that stream, and eight that exchange lines in pairs.
constexpr std::string_view mixed_program =
    R"({"schema": "huddle-comm", "version": 1, "n": 16,
        "memory": {"seconds": 1, "bytes": [2e10, 2e10, 2e10, 2e10, 2e10, 2e10, 2e10, 2e10,
                                           0, 0, 0, 0, 0, 0, 0, 0]},
        "entries": [[8, 12, 64000000], [9, 13, 64000000], [10, 14, 64000000],
                    [11, 15, 64000000]]})";

class MapMemory : public Map {
 protected:
  Ran map(std::vector<std::string> more) {
    more.insert(more.begin(), {"--machine", two_sockets_of_64});
    std::vector<std::string> words = {
        "map", program_.home().write("mixed.json", std::string(mixed_program))};
    words.insert(words.end(), more.begin(), more.end());
    return program_.run(words);
  }
};

TEST_F(MapMemory, StreamingThreadsAreSpreadAndPairsShareAnL3Cache) {
  const json document = json::parse(map({"--json"}).out);
  std::vector<int> place;
  for (const json& one : document["placement"]) place.push_back(one["processor"]);
  std::vector<int> nodes;
  for (int v = 0; v < 8; ++v) nodes.push_back(place[static_cast<std::size_t>(v)] / 16);
  EXPECT_THAT(nodes, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  for (std::size_t v = 8; v < 12; ++v) EXPECT_EQ(place[v] / 8, place[v + 4] / 8);
  const json& after = document["after"]["predicted"];
  EXPECT_NEAR(after["ns"],
              after["communication_ns"].get<double>() + after["memory_ns"].get<double>(), 1);
  EXPECT_EQ(document["advice"], "move") << document["reason"];
}

TEST_F(MapMemory, StatesBothTerms) {
  EXPECT_THAT(map({}).out, AllOf(HasSubstr("communication takes"), HasSubstr("and memory takes"),
                                 HasSubstr("\nof which memory ")));
  const Ran packed = map({"--pack"});
  EXPECT_THAT(packed.out,
              AllOf(HasSubstr("--pack ignores the time to wait for memory"), HasSubstr("unknown")));
}

TEST_F(MapMemory, ComparesWithCloseSpreadAndCurrentPlacement) {
  const json document = json::parse(map({"--compare", "--json"}).out);
  double tree = 0;
  double best = std::numeric_limits<double>::infinity();
  for (const json& method : document["methods"]) {
    const double ns = method["after"]["predicted"]["ns"];
    best = std::min(best, ns);
    if (method["method"] == "tree") tree = ns;
  }
  EXPECT_EQ(tree, best);
  EXPECT_THAT(map({"--compare"}).out, HasSubstr("communication"));
}

TEST_F(MapMemory, SmallGainMovesNothing) {
  const json document = json::parse(map({"--json", "--min-gain", "95"}).out);
  EXPECT_EQ(document["advice"], "leave");
}

TEST_F(Map, ListsTheRowsOfItsTable) {
  const Ran ran = program_.run({"map", "--compare", "--dry-run"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("| pattern | elements |"),
                             HasSubstr("\n| 3-D halo | 4096 | shuffled |\n")));
}

TEST_F(Map, PrintsTheRowsOfItsTableAsJson) {
  const Ran ran = program_.run({"map", "--compare", "--dry-run", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  ASSERT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["command"], "map");
  EXPECT_TRUE(document["machine"].is_null());
  const json& last = document["rows"].back();
  EXPECT_EQ(last["elements"], 4096);
  EXPECT_EQ(last["numbered"], "shuffled");
  EXPECT_TRUE(last["methods"].empty());
}

// The machine has four cores with two hardware threads each, n and n + 4.
TEST_F(Map, RanksShareNoCoreWhileAnotherIsFree) {
  for (const char* option : {"--min-gain=3", "--pack"}) {
    const Ran ran = program_.run({"map", "--pattern", "ring", "-n", "5", "--nodes", "1",
                                  "--machine", "i7-6700", "--json", option});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json document = json::parse(ran.out);
    std::set<int> cores;
    for (const json& one : document["placement"]) {
      cores.insert(one["processor"].get<int>() % 4);
    }
    EXPECT_EQ(cores.size(), 4U) << option;
  }
}

TEST_F(Map, WritesPlacementsForLaunchers) {
  EXPECT_THAT(map({"--emit", "prrte"}).out, HasSubstr("rank 0=localhost slot="));
  EXPECT_THAT(map({"--nodes", "2", "--cpus", "0-7", "--hosts", "a,b", "--emit", "hostfile"}).out,
              AllOf(HasSubstr("a\n"), HasSubstr("b\n"), Not(HasSubstr("node"))));
}

// A 4 x 4 grid has 24 neighbours, and the best halves of it are separated by 4 of them.
TEST_F(Map, PlacesAPatternWithoutAMatrix) {
  const Ran ran =
      program_.run({"map", "--pattern", "halo2d", "-n", "16", "--machine", two_sockets, "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"kind\":\"rank\""), HasSubstr("equal messages")));
  const Ran text =
      program_.run({"map", "--pattern", "halo2d", "-n", "16", "--machine", two_sockets});
  EXPECT_THAT(text.out, HasSubstr("16 ranks, 24 pairs that communicate"));
}

TEST_F(Map, ReportsUsageErrors) {
  const auto fails = [this](std::vector<std::string> words, const std::string& with) {
    const Ran ran = map(std::move(words));
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(with));
    EXPECT_EQ(ran.out, "");
  };
  fails({"--method", "tre"}, "did you mean 'tree'?");
  fails({"--emit", "openmpi"}, "did you mean 'openmpi4'?");
  fails({"--emit", "foo"}, "the formats are omp-places, gomp");
  fails({"--rows", "frist"}, "did you mean 'first'?");
  fails({"--as-published"}, "--as-published requires --method lh");
  fails({"--cpus", "0-3", "--nodes", "2"}, "--nodes 4");
  fails({"--cpus", "99"}, "--cpus contains no hardware thread");
  fails({"--cpus", "x"}, "--cpus");
  fails({"--fixed", "3"}, "is not of the form ELEMENT=HARDWARE_THREAD");
  fails({"--fixed", "3=99"}, "this hardware thread does not exist");
  fails({"--fixed", "3=1,4=1"}, "cannot both be placed on 1");
  fails({"--fixed", "77=1"}, "there is no element 77");
  fails({"--nodes", "2", "--hosts", "a", "--emit", "hostfile"}, "--hosts contains 1 node");
  fails({"--nodes", "2", "--cpus", "0-7", "--emit", "gomp"}, "threads of one node");
  const Ran nothing = program_.run({"map"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, AllOf(HasSubstr("a communication matrix is required"),
                                 HasSubstr("huddle profile"), HasSubstr("--pattern halo2d")));
  fails({"--pattern", "ring", "-n", "8"}, "give only one of them");
  fails({"-n", "8"}, "-n requires --pattern");
  const auto pattern_fails = [this](std::vector<std::string> words, const std::string& with) {
    words.insert(words.begin(), "map");
    const Ran ran = program_.run(words);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(with));
  };
  pattern_fails({"--pattern", "ring"}, "requires the number of ranks");
  pattern_fails({"--pattern", "halo2", "-n", "8"}, "did you mean 'halo2d'?");
}

TEST_F(Map, DamagedMatrixIsReportedWithFileAndLine) {
  const Ran ran = map({}, "0,1\n1,-2\n");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("ring.csv:2: '-2' is negative"));
  EXPECT_EQ(program_.run({"map", "/no/such/file"}).status, 3);
}

TEST_F(Map, ReadsStandardInputAndListsMachines) {
  Program program;
  program.input("0,9\n9,0\n");
  const std::vector<std::string> words = {"map", "-", "--machine", "songshan", "--json"};
  const Ran piped = program.run(words);
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(json::parse(piped.out)["matrix"]["n"], 2) << piped.out;
  program.input("0,x\n9,0\n");
  EXPECT_THAT(program.run(words).err, HasSubstr("standard input:1: 'x' is not a number"));
  EXPECT_THAT(program.run({"map", "--list-machines"}).out, HasSubstr("songshan"));
}

TEST_F(Map, ReadsRowsFromTheLastUp) {
  // Element 0 sends to 1 in a file that begins with its last row.
  const std::string csv = "0,0,5\n0,0,0\n0,9,0\n";
  const json document = json::parse(map({"--rows", "last", "--json"}, csv).out);
  EXPECT_EQ(document["matrix"]["pairs"], 1);
  EXPECT_EQ(document["matrix"]["bytes"], 9);
}

}  // namespace
}  // namespace huddle::cli
