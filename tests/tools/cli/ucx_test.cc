// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"
#include "tools/cli/ucx/ucx_report.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Runs on a recorded machine, independent of this one, and without ucx_info.
Program here() {
  Program program;
  program.environment("HWLOC_XMLFILE=" HUDDLE_SOURCE_DIR
                      "/tests/model/machine/topologies/guest-2-cores.xml");
  program.environment("HWLOC_THISSYSTEM=1");
  program.environment("PATH=" + program.home().folder().string());
  return program;
}
constexpr const char* calibrated = "amd-epyc-2c-1b1d3050";

void expect_error(const Ran& ran, int status, const std::string& reason) {
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(StartsWith("huddle: "), HasSubstr(reason)));
}

TEST(Ucx, WithoutUcxNamesThePackage) {
  expect_error(here().run({"ucx", "--machine", calibrated}), 1, "ucx-utils");
}

TEST(Ucx, WithoutCalibrationWritesNoBandwidths) {
  expect_error(here().run({"ucx"}), 1, "huddle calibrate");
}

TEST(Ucx, RefusesUnknownVersionsAndMachines) {
  expect_error(here().run({"ucx", "--machine", calibrated, "--ucx-version", "1.8"}), 2,
               "not known before 1.9");
  expect_error(here().run({"ucx", "--machine", calibrated, "--ucx-version", "new"}), 2,
               "not a version of UCX");
  expect_error(here().run({"ucx", "--machine", "songshan"}), 2,
               "name the UCX of the other machine");
  expect_error(
      here().run({"ucx", "--machine", calibrated, "--ucx-version", "1.9", "--format", "yaml"}), 2,
      "use one of env");
  expect_error(
      here().run({"ucx", "--machine", calibrated, "--ucx-version", "1.16", "--format", "conf"}), 2,
      "--format env");
  expect_error(here().run({"ucx", "--machine", calibrated, "--ppn", "0"}), 2, "--ppn");
  expect_error(here().run({"ucx", "--machine", calibrated, "--check", "--ucx-version", "1.9"}), 2,
               "--ucx-version");
  expect_error(here().run({"ucx", "--machine", calibrated, "--rank-counts", "2,4"}), 2, "--check");
  expect_error(here().run({"ucx", "--machine", calibrated, "mpirun", "./app"}), 2,
               "require --check");
}

TEST(Ucx, WritesThePapersSettingsFromItsMachine) {
  const Ran ran =
      here().run({"ucx", "--machine", "songshan", "--ucx-version", "1.9", "--ppn", "32"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("# Settings for UCX 1.9 on songshan with 32 ranks per node"),
                    HasSubstr("unverified"), HasSubstr("\nexport UCX_CMA_BW="),
                    HasSubstr("\nexport UCX_KNEM_BW=")));
}

// Rails would use more cards for messages inside the node, which is the problem that the paper
// describes. The number of ranks per node differs between jobs.
TEST(Ucx, SetsNeitherRanksNorRailsNorTheOrderOfWrites) {
  for (const char* ranks : {"2", "32"}) {
    const Ran ran =
        here().run({"ucx", "--machine", "songshan", "--ucx-version", "1.9", "--ppn", ranks});
    EXPECT_THAT(ran.out, AllOf(HasSubstr("\n# export UCX_MAX_RNDV_RAILS=4\n"),
                               HasSubstr("\n# export UCX_IB_PCI_RELAXED_ORDERING=on\n"),
                               Not(HasSubstr("\nexport UCX_MAX_RNDV")),
                               Not(HasSubstr("\nexport UCX_IB_PCI_RELAXED_ORDERING")),
                               Not(HasSubstr("\nexport UCX_MULTI_LANE_MAX_RATIO")),
                               Not(HasSubstr("UCX_NUM_PPN"))));
    EXPECT_THAT(ran.err, HasSubstr("UCX_NUM_PPN is omitted"));
  }
}

TEST(Ucx, LauncherOptionsNameOmittedUntestedSettings) {
  const Ran ran = here().run({"ucx", "--machine", "songshan", "--ucx-version", "1.9", "--ppn", "32",
                              "--format", "openmpi"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("-x UCX_CMA_BW="), Not(HasSubstr("RAILS"))));
  EXPECT_THAT(ran.err, HasSubstr("UCX_MAX_RNDV_RAILS is omitted because it was not tested"));
}

TEST(Ucx, PrintsJson) {
  const Ran ran =
      here().run({"ucx", "--machine", "songshan", "--ucx-version", "1.9", "--ppn", "32", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["command"], "ucx");
  EXPECT_EQ(document["ranks_per_node"], 32);
  EXPECT_EQ(document["settings"][0]["name"], "UCX_CMA_BW");
  EXPECT_EQ(document["untested"][0]["name"], "UCX_MULTI_LANE_MAX_RATIO");
  EXPECT_EQ(document["omitted"][0]["name"], "UCX_NUM_PPN");
}

UcxCheck sample_check(const std::string& device, ucx::DeviceKind kind) {
  const ucx::Lane memory{"cma", "memory", 0.63};
  const ucx::Lane other{"tcp", device, 0.37};
  UcxCheck check;
  check.now = {{"tagged message", {{262144, "rendezvous", {memory, other}}}}};
  check.advised = {{"tagged message", {{262144, "rendezvous", {memory}}}}};
  check.devices = {{"cma", "memory", ucx::DeviceKind::intra_node, 0, 0},
                   {"tcp", device, kind, 0, 0}};
  return check;
}

TEST(UcxCheckText, NamesTheNetworkDeviceAndItsShare) {
  const std::string text = ucx_check_text(sample_check("lo", ucx::DeviceKind::network), 80);
  EXPECT_THAT(text, AllOf(HasSubstr("37 % of each message of at least 256K go through tcp/lo"),
                          HasSubstr("With huddle's settings, no message does.")));
}

TEST(UcxCheckText, AcceptsTransportsThroughMemory) {
  const UcxCheck check = sample_check("memory2", ucx::DeviceKind::intra_node);
  EXPECT_THAT(strays_of(check.now, check.devices), IsEmpty());
  EXPECT_THAT(ucx_check_text(check, 80), HasSubstr("No message inside the node"));
}

TEST(UcxCheckText, ShowsRunsAndDroppedSettings) {
  UcxCheck check = sample_check("lo", ucx::DeviceKind::network);
  UcxRun run{{select::Operation::alltoall, 4 << 20},
             {1.1, 1.04, 1.17, 20, true},
             {2.5, 2.4, 2.6, 20, true},
             4e6,
             3e6,
             1.6e6,
             {{"lo", 44e6}},
             {{"lo", 104}}};
  check.runs = {UcxRuns{"mpirun", "Open MPI", 4, false, {run}, {{"UCX_CMA_BW", "it was slower"}}}};
  const std::string text = ucx_check_text(check, 140);
  EXPECT_THAT(
      text, AllOf(HasSubstr("4 ranks"), HasSubstr("alltoall 4M"), HasSubstr("1.10 (1.04 to 1.17)"),
                  HasSubstr("2.50 (2.40 to 2.60)"), HasSubstr("lo 42M, 104"),
                  HasSubstr("UCX_CMA_BW is omitted: it was slower")));
  const json document = json::parse(ucx_check_json(check));
  EXPECT_EQ(document["network_now"][0]["device"], "lo");
  EXPECT_EQ(document["runs"][0]["points"][0]["sent_with"]["lo"], 104);
}

TEST(UcxCheckText, ShowsAProgramWithAndWithoutSettings) {
  UcxCheck check = sample_check("lo", ucx::DeviceKind::network);
  UcxProgramRuns program;
  program.runs.of(bench::Side::native).wall_seconds.assign(8, 1.0);
  program.runs.of(bench::Side::huddle).wall_seconds.assign(8, 1.25);
  program.before = {{"eth0", 5}, {"lo", 44e6}};
  check.program_runs = program;
  EXPECT_THAT(ucx_check_text(check, 80),
              AllOf(HasSubstr("1.000 s, 1.250 s; ratio 0.800 (0.800 to 0.800): slower with them"),
                    HasSubstr("network traffic without and with them: lo 42M, 0")));
  EXPECT_EQ(json::parse(ucx_check_json(check))["program"]["ratio"], 0.8);
}

json paths(const std::string& ranks) {
  const Ran ran = here().run({"paths", "-n", ranks, "--machine", "songshan", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out);
}

// Returns the path of a large message, for the paper's two results.
std::string taken(const json& document, std::size_t kind) {
  return document["points"].back()["ucx"][kind]["path"];
}

TEST(Paths, ShowsTheEffectOfConstants) {
  EXPECT_EQ(taken(paths("1"), 0), "knem");
  EXPECT_EQ(taken(paths("2"), 0), "cma");
  EXPECT_EQ(taken(paths("32"), 0), "cma");
  EXPECT_EQ(taken(paths("32"), 1), "knem");
}

// UCX copies such a message through shared memory, whatever the cost of its paths.
TEST(Paths, UcxCopiesSmallMessages) {
  const json document = paths("32");
  ASSERT_EQ(document["points"][0]["bytes"], 4096);
  for (const json& version : document["points"][0]["ucx"]) EXPECT_EQ(version["path"], "copied");
  EXPECT_EQ(document["points"][1]["ucx"][0]["path"], "cma");
}

TEST(Paths, FastestHasTheHighestScore) {
  const json document = paths("32");
  for (const json& point : document["points"]) {
    double best = 0;
    std::string name;
    for (const json& path : point["paths"]) {
      EXPECT_NEAR(path["gb_per_s"], point["bytes"].get<double>() / path["ns"].get<double>(), 1e-9);
      if (path["score"] > best) {
        best = path["score"];
        name = path["path"];
      }
    }
    EXPECT_EQ(point["fastest"], name);
  }
}

TEST(Paths, PrintsTextWithItsCrossingPoints) {
  const Ran ran = here().run({"paths", "-n", "32", "--machine", "songshan"});
  EXPECT_THAT(ran.out, AllOf(StartsWith("songshan, 32 ranks at once"),
                             HasSubstr("Fastest path: copied; from 16K on: knem.")));
}

// `huddle ucx` refuses to work without measurements, so estimates must not look like them here.
TEST(Paths, StatesBeforeTheFiguresThatTheyAreEstimates) {
  const Ran generic = here().run({"paths"});
  EXPECT_EQ(generic.status, 0) << generic.err;
  EXPECT_THAT(generic.out, ContainsRegex("^[^\n]*GB/s per rank, estimated, not measured\n"
                                         "This machine has not been measured; run 'huddle cal"));
  EXPECT_THAT(here().run({"paths", "-n", "32", "--machine", "songshan"}).out,
              ContainsRegex("^[^\n]*, estimated, not measured\nNo figure was measured: "));
  EXPECT_THAT(here().run({"paths", "--machine", calibrated}).out, Not(HasSubstr("measured")));
}

}  // namespace
}  // namespace huddle::cli
