// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/machine_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::machine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

Machine sample() {
  Machine machine = generic_machine(
      discover_from_synthetic("pack:2 [numa(memory=1GB)] [numa(memory=1GB)] l3:2 core:2 pu:2")
          .topology);
  machine.name = "sample \"quoted\" \\ \t tab";
  machine.provenance = {
      "huddle 0.1.0", "2026-11-20T10:00:00Z", "Linux 6.1", "performance", "on", "off", "kvm",
      "by hand",      {"one", "two \"2\""}};
  machine.topology.numa_distances = {10, 17, 21, 28, 17, 10, 28, 21,
                                     21, 28, 10, 17, 28, 21, 17, 10};
  machine.topology.kinds = {{"performance", 1, CpuSet::parse("0-7")},
                            {"efficient", 0, CpuSet::parse("8-15")}};
  machine.topology.offline = CpuSet::parse("16-17");
  machine.line[1].steps_origin = Origin::published;
  machine.pairs = LinePairs{{0, 2, 4}, {0, 47.25, 1e2, 47.25, 0, 0.1, 1e2, 0.1, 0}, "some"};
  machine.networks = {{"HDR",
                       4,
                       {{8, 1e6}, {900, 4e4}, {0.1, 0.25}},
                       50,
                       96.5,
                       Origin::published,
                       120,
                       16384,
                       1.2,
                       32768},
                      {"without more words", 1, {{8}, {900}, {}}, 50, 96.5, Origin::published}};
  machine.mpi_collectives = {
      {"Open MPI v4.1.4", "allreduce", 4, 8, true, {{8, 1e6}, {9e4, 4e8}, {0.1, 0.25}}},
      {"Open MPI v4.1.4", "allreduce", 4, 8, false, {{8}, {9e4}, {}}, Origin::published}};
  machine.copy_past_caches = {
      {"machine", 2, {{1e6, 1e7}, {2e4, 5e5}, {0.1, 0.25}}, Origin::measured}};
  machine.doubts = {{"line 0-1", "half of the time was lost"}};
  return machine;
}

TEST(MachineFile, RoundTripsWithoutLoss) {
  const Machine machine = sample();
  EXPECT_EQ(parse_machine(format_machine(machine), "sample"), machine);
}

RC_GTEST_PROP(MachineFileProperty, AnyFigureRoundTripsWithoutLoss, ()) {
  Machine machine = sample();
  const auto figure = [] {
    return std::ldexp(*rc::gen::inRange(1, 1 << 30), *rc::gen::inRange(-40, 8));
  };
  for (LineCost& cost : machine.line) cost.one_way_ns = figure() + 1e-6;
  for (CopyCurve& copy : machine.copy) {
    for (double& ns : copy.curve.ns) ns = figure() + 1e-6;
  }
  machine.name = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  RC_ASSERT(parse_machine(format_machine(machine), "any") == machine);
}

// Returns the text of the sample with one part replaced.
std::string damaged(const std::string& piece, const std::string& by) {
  std::string text = format_machine(sample());
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), by);
}

void expect_refused(const std::string& text, const std::string& reason) {
  EXPECT_THAT([&] { parse_machine(text, "file.toml"); },
              ThrowsMessage<InputError>(AllOf(StartsWith("file.toml:"), HasSubstr(reason))));
}

TEST(MachineFile, ErrorsNameTheLineAndTheReason) {
  expect_refused("schema = ", "not TOML");
  expect_refused("", "'schema' is missing");
  expect_refused("schema = 1\nname = \"x\"", "'[topology]' is missing");
  expect_refused(damaged("schema = 1", "schema = 2"), "newer version of huddle (schema 2");
  expect_refused(damaged("schema = 1", "schema = 0"), "whole number");
  expect_refused(damaged("one_way_ns = 12", "one_way_ns = -12"), "one_way_ns is -12");
  expect_refused(damaged("one_way_ns = 12", "one_way_ns = nan"), "finite number");
  expect_refused(damaged("one_way_ns = 12", "one_way_ns = inf"), "finite number");
  expect_refused(damaged("one_way_ns = 12", "one_way_ns = \"12\""), "must be a number");
  expect_refused(damaged("one_way_ns = 12", "one_way = 12"), "'one_way_ns' is missing");
  expect_refused(damaged("reader_step_ns", "extra = 1\nreader_step_ns"), "unknown key 'extra'");
  expect_refused(damaged("[[line]]\nlevel = \"core\"", "[[line]]\nlevel = \"l7\""),
                 "no level 'l7'");
  expect_refused(damaged("[[line]]\nlevel = \"core\"", "[[line]]\nlevel = \"l3\""), "twice");
  expect_refused(damaged("origin = \"estimated\"", "origin = \"mesured\""),
                 "did you mean 'measured'?");
  expect_refused(damaged("copiers = 1", "copiers = 99"), "copiers is 99");
  expect_refused(damaged("copiers = 1", "copiers = 1.5"), "whole number");
  expect_refused(damaged("  [47.25],", "  [47.25, 3],"), "row 1 must have 1");
  expect_refused(damaged("  [47.25],\n", ""), "require 3 rows, but there are 2");
  expect_refused(damaged("pus = \"0-15\"", "pus = \"0-14\""),
                 "more hardware threads than the machine has");
  expect_refused(damaged("pus = \"0-15\"", "pus = \"\""), "at least one hardware thread");
  expect_refused(damaged("groups = [\"0-1\",", "groups = [\"0-2\","), "level core");
  expect_refused(damaged("[[10, 17", "[[10"), "require 16 distances");
  expect_refused(damaged("cpu_ns = 120", "cpu_ns = 500"), "2 x cpu_ns = 1000 ns");
  expect_refused(damaged("rendezvous_bytes = 16384", "rendezvous_bytes = -1"),
                 "rendezvous_bytes is -1");
  expect_refused(damaged("both_ways = 1.2", "both_ways = 2.5"), "both_ways is 2.5");
  expect_refused(damaged("piece_bytes = 32768", "piece_bytes = 0"), "piece_bytes is 0");
  expect_refused(damaged("operation = \"allreduce\"", "operation = \"allreduc\""),
                 "did you mean 'allreduce'?");
  expect_refused(damaged("hosts = 4", "hosts = 9"), "each host must have a rank");
  expect_refused(damaged("in_order = false", "in_order = true"), "twice");
}

TEST(MachineFile, ErrorNamesTheLineOfAFlawInATable) {
  const std::string text = damaged("one_way_ns = 12", "one_way_ns = -12");
  const std::size_t flaw = text.find("[[line]]");
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(flaw), '\n') + 1;
  expect_refused(text, "file.toml:" + std::to_string(line) + ": ");
}

TEST(MachineFile, RejectsTooManyLevelsQuickly) {
  std::string text = "schema = 1\nname = \"x\"\n[topology]\npus = \"0-9\"\n";
  for (int i = 0; i < 20000; ++i) {
    text += "[[topology.level]]\nname = \"l" + std::to_string(i) + "\"\ngroups = [\"0-9\"]\n";
  }
  expect_refused(text, "more than 64 levels");
}

TEST(MachineFile, RejectsTooManyHardwareThreads) {
  expect_refused("schema = 1\nname = \"x\"\n[topology]\npus = \"0-9999\"\n",
                 "10000 hardware threads");
}

TEST(MachineFile, RequiresACopyCurveOfASingleCopier) {
  Machine machine = sample();
  std::erase_if(machine.copy, [](const CopyCurve& copy) { return copy.copiers == 1; });
  expect_refused(format_machine(machine), "copiers = 1");
}

TEST(MachineFile, RejectsDuplicateNonTemporalCopyCurves) {
  Machine machine = sample();
  machine.copy_past_caches.push_back(machine.copy_past_caches.front());
  expect_refused(format_machine(machine), "copy_past_caches");
}

TEST(MachineFile, ErrorNamesAMissingLevel) {
  Machine machine = sample();
  machine.line.pop_back();
  expect_refused(format_machine(machine), "level machine has no line latency");
}

TEST(MachineFile, OptionalFiguresOfLinesRoundTrip) {
  Machine machine = sample();
  machine.outstanding_misses = {12, Origin::published};
  machine.line.front().load_step_ns = 4;
  machine.line.front().shared_origin = Origin::published;
  EXPECT_EQ(parse_machine(format_machine(machine), "x"), machine);
  machine.outstanding_misses->per_core = 0;
  expect_refused(format_machine(machine), "per_core");
}

TEST(MachineFile, PathAtALevelRoundTripsAndDuplicatesAreRejected) {
  Machine machine = sample();
  machine.paths.push_back({"cma", 1, {{1000}, {500}, {}}, Origin::measured, "l3"});
  EXPECT_EQ(parse_machine(format_machine(machine), "x").paths, machine.paths);
  machine.paths.push_back(machine.paths.back());
  expect_refused(format_machine(machine), "path cma, copiers 1, level l3");
  machine.paths.back().level = "l7";
  expect_refused(format_machine(machine), "l7");
}

TEST(MachineFile, TruncationIsAnErrorNeverACrash) {
  const std::string text = format_machine(sample());
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    try {
      validate(parse_machine(text.substr(0, size), "cut"));
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith("cut:"));
    }
  }
}

// Older files use former names of the kinds of hand-off.
TEST(MachineFile, ReadsTheFormerNamesOfHandoffs) {
  const Machine machine = sample();
  std::string text = format_machine(machine);
  int former = 0;
  for (const HandoffFacts& facts : handoff_facts) {
    if (facts.former_name.empty()) continue;
    const std::string now = fmt::format("kind = \"{}\"", facts.name);
    const std::string before = fmt::format("kind = \"{}\"", facts.former_name);
    for (std::size_t at = text.find(now); at != std::string::npos; at = text.find(now, at)) {
      text.replace(at, now.size(), before);
      ++former;
    }
  }
  EXPECT_GE(former, 7);
  EXPECT_EQ(parse_machine(text, "sample"), machine);
}

// A file may start with something entirely different.
TEST(MachineFile, ErrorNamesTheLineOfAnInvalidBeginning) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(parse_machine(mark + format_machine(sample()), "marked"), sample());
  const std::vector<std::pair<std::string, std::string>> complaints = {
      {"", "f:1: 'schema' is missing"},
      {mark, "f:1: 'schema' is missing"},
      {"# a comment\n", "f:1: 'schema' is missing"},
      {std::string("\x7f"
                   "ELF\x02\x01\0\xff",
                   8),
       "f:1: not TOML: "},
      {std::string(3, '\0'), "f:1: not TOML: "},
      {"schema = = 1\n", "f:1: not TOML: "},
      {"{\"schema\":1}\n", "f:1: not TOML: "},
      {mark + "\nschema = \n", "f:2: not TOML: "},
      {"name = \"x\"\n", "f:1: 'schema' is missing"},
      {mark + "schema = 1\nname = 3\n", "f:2: 'name' must be a string in quotes"}};
  for (const auto& [text, complaint] : complaints) {
    const std::string& file = text;
    EXPECT_THAT([&file] { parse_machine(file, "f"); },
                ThrowsMessage<InputError>(StartsWith(complaint)));
  }
}

class MachineFolder : public testing::Test {
 protected:
  MachineFolder() {
    std::string pattern = testing::TempDir() + "huddle-machine-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~MachineFolder() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(MachineFolder, WritesAtomically) {
  const std::string path = folder_ / "deep" / "er" / "machine.toml";
  write_machine_file(sample(), path);
  EXPECT_EQ(read_machine_file(path), sample());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "deep" / "er"), {}), 1)
      << "nothing but the file stays";
}

TEST_F(MachineFolder, WriteErrorContainsTheReason) {
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_THAT([&] { write_machine_file(sample(), folder_ / "file" / "machine.toml"); },
              ThrowsMessage<FailureError>(HasSubstr("cannot write")));
  std::filesystem::create_directory(folder_ / "taken");
  std::filesystem::create_directory(folder_ / "taken" / "inside");
  EXPECT_THROW(write_machine_file(sample(), folder_ / "taken"), FailureError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(MachineFolder, UnreadableFilesAreInputErrors) {
  EXPECT_THROW(read_machine_file(folder_ / "nothing"), InputError);
  EXPECT_THROW(read_machine_file(folder_), InputError);
}

}  // namespace
}  // namespace huddle::machine
