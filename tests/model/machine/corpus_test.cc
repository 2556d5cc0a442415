// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests discovery with recorded machines. topologies/README.md describes their sources.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../common/scratch.h"
#include "common/error.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// The complete result of discovery for a machine, in a form that is easy to check.
struct Expected {
  std::string file;
  std::string cpu_model;
  std::string pus;
  std::string offline;
  std::string allowed;
  int cores = 0;
  std::string levels;   // "l3 2 x 8": two groups of eight hardware threads, innermost first
  std::string joining;  // the joining levels
  std::string numa;     // "0:0-7", "1:0-7 hbm" for memory-only nodes
  std::string kinds;
  std::string fingerprint;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.file; }

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return fmt::format("{}", fmt::join(words, between));
}

// "2 x 8", or "4+4+2" if the sizes of groups differ.
std::string sizes(const std::vector<CpuSet>& groups) {
  std::vector<int> counts;
  for (const CpuSet& group : groups) counts.push_back(group.count());
  const std::set<int> different(counts.begin(), counts.end());
  if (different.size() == 1) return fmt::format("{} x {}", counts.size(), counts.front());
  return fmt::format("{}", fmt::join(counts, "+"));
}

std::string levels_text(const Topology& topology) {
  std::vector<std::string> words;
  for (const Level& level : topology.levels)
    words.push_back(level.name + " " + sizes(level.groups));
  return joined(words, ", ");
}

std::string numa_text(const Topology& topology) {
  std::vector<std::string> words;
  for (const NumaNode& node : topology.numa) {
    std::string word = fmt::format("{}:{}", node.number, node.cpus.text());
    if (node.memory_only) word += node.kind.empty() ? " memory" : " " + node.kind;
    words.push_back(word);
  }
  return joined(words, " | ");
}

std::string kinds_text(const Topology& topology) {
  std::vector<std::string> words;
  for (const CoreKind& kind : topology.kinds) {
    words.push_back(fmt::format("{} {}", kind.name, kind.cpus.text()));
  }
  return joined(words, " | ");
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string topologies_folder() {
  return std::string(HUDDLE_SOURCE_DIR) + "/tests/model/machine/topologies/";
}

const std::vector<Expected>& corpus() {
  static const std::vector<Expected> all = {
      {"arm-80-no-l3", "Neoverse-N1", "0-79", "", "0-79", 80,
       "core 80 x 1, l2 80 x 1, package 1 x 80", "package", "0:0-79", "",
       "neoverse-n1-80c-0a7a9918"},
      {"arm-big-little", "Cortex-A72", "0-7", "", "0-7", 8, "core 8 x 1, l2 2 x 4, package 1 x 8",
       "l2 package", "0:0-7", "efficient 0-3 | performance 4-7", "cortex-a72-8c-3944998f"},
      {"barcelona-4x4", "", "0-15", "", "0-15", 16,
       "core 16 x 1, l2 16 x 1, l3 4 x 4, numa 4 x 4, package 4 x 4", "l3 machine",
       "0:0-3 | 1:4-7 | 2:8-11 | 3:12-15", "", "unknown-16c-012ad45d"},
      {"cgroup-half-of-2x8", "Intel(R) Xeon(R) CPU E5-2620 v4 @ 2.10GHz", "0-15", "", "0-3,8-11",
       16, "core 16 x 1, l3 2 x 8, numa 2 x 8, package 2 x 8", "l3 machine", "0:0-7 | 1:8-15", "",
       "intel-xeon-e5-2620-v4-16c-5ff18375"},
      {"cxl-2x8", "Intel(R) Xeon(R) 6710E", "0-15", "", "0-15", 16,
       "core 16 x 1, l3 2 x 8, numa 2 x 8, package 2 x 8", "l3 machine",
       "0:0-7 | 1:8-15 | 2:0-7 cxl-dram | 3:0-15 memory", "", "intel-xeon-6710e-16c-89f823b7"},
      {"dead-die", "Intel(R) Xeon(R) Platinum 9242 CPU @ 2.30GHz", "0-11", "", "0-11", 12,
       "core 12 x 1, l3 3 x 4, die 3 x 4, numa 8+4, package 8+4", "l3 numa machine",
       "0:0-7 | 1:8-11", "", "intel-xeon-platinum-9242-12c-aad253a6"},
      {"epyc-2x64-nps1-smt", "AMD EPYC 7763 64-Core Processor", "0-255", "", "0-255", 128,
       "core 128 x 2, l3 16 x 16, numa 2 x 128, package 2 x 128", "core l3 numa machine",
       "0:0-63,128-191 | 1:64-127,192-255", "", "amd-epyc-7763-64-128c-d18ada57"},
      {"epyc-2x64-nps4", "", "0-127", "", "0-127", 128,
       "core 128 x 1, l2 128 x 1, l3 16 x 8, numa 8 x 16, package 2 x 64",
       "l3 numa package machine",
       "0:0-15 | 1:16-31 | 2:32-47 | 3:48-63 | 4:64-79 | 5:80-95 | 6:96-111 | 7:112-127", "",
       "unknown-128c-e48f7db8"},
      {"favoured-cores", "Intel(R) Xeon(R) W-2245 CPU @ 3.90GHz", "0-7", "", "0-7", 8,
       "core 8 x 1, l3 1 x 8, package 1 x 8", "l3", "0:0-7", "", "intel-xeon-w-2245-8c-6d238e3d"},
      {"guest-2-cores", "AMD EPYC", "0-1", "", "0-1", 2,
       "core 2 x 1, l1 2 x 1, l2 2 x 1, l3 1 x 2, package 1 x 2", "l3", "0:0-1", "",
       "amd-epyc-2c-1b1d3050"},
      {"hybrid-8p-8e", "12th Gen Intel(R) Core(TM) i9-12900", "0-23", "", "0-23", 16,
       "core 2+2+2+2+2+2+2+2+1+1+1+1+1+1+1+1, l2 2+2+2+2+2+2+2+2+4+4, l3 1 x 24, package 1 x 24",
       "core l2 l3", "0:0-23", "efficient 16-23 | performance 0-15",
       "12th-gen-intel-i9-12900-16c-c0cc91ce"},
      {"i7-6700", "Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz", "0-7", "", "0-7", 4,
       "core 4 x 2, l2 4 x 2, l3 1 x 8, package 1 x 8", "core l3", "0:0-7", "",
       "intel-i7-6700-4c-0e774e15"},
      {"knl-64x4-flat", "Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz", "0-255", "", "0-255", 64,
       "core 64 x 4, l2 32 x 8, package 1 x 256", "core l2 package", "0:0-255 | 1:0-255 hbm", "",
       "intel-xeon-phi-7210-64c-efbe6752"},
      {"kunpeng-2x64", "Kunpeng-920", "0-127", "", "0-127", 128,
       "core 128 x 1, group 32 x 4, l3 4 x 32, numa 4 x 32, package 2 x 64",
       "group l3 package machine", "0:0-31 | 1:32-63 | 2:64-95 | 3:96-127", "",
       "kunpeng-920-128c-c98e7194"},
      {"one-core", "x86_64", "0", "", "0", 1, "core 1 x 1", "", "0:0", "", "x86-64-1c-d1198299"},
      {"smt-and-a-core-offline", "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz", "0-4,6-7", "5,8-15",
       "0-4,6-7", 7, "core 7 x 1, l3 4+3, numa 4+3, package 4+3", "l3 machine", "0:0-3 | 1:4,6-7",
       "", "intel-xeon-silver-4110-7c-9f2bfbfe"},
      {"uneven-8-and-6", "AMD EPYC 7262 8-Core Processor", "0-13", "", "0-13", 14,
       "core 14 x 1, l3 4+4+4+2, numa 8+6, package 8+6", "l3 numa machine", "0:0-7 | 1:8-13", "",
       "amd-epyc-7262-8-14c-b0ac489d"},
      {"xeon-8x10-smt", "Intel(R) Xeon(R) CPU           E7- 8850  @ 2.00GHz", "0-159", "", "0-159",
       80, "core 80 x 2, l3 8 x 20, numa 8 x 20, package 8 x 20", "core l3 machine",
       "0:0-9,80-89 | 1:10-19,90-99 | 2:20-29,100-109 | 3:30-39,110-119 | 4:40-49,120-129 | "
       "5:50-59,130-139 | 6:60-69,140-149 | 7:70-79,150-159",
       "", "intel-xeon-e7-8850-80c-ce17d3f5"},
      {"xeon-hbm-snc4", "Intel(R) Xeon(R) CPU Max 9480", "0-55", "", "0-55", 56,
       "core 56 x 1, numa 4 x 14, l3 1 x 56, package 1 x 56", "numa l3",
       "0:0-13 | 1:14-27 | 2:28-41 | 3:42-55 | 4:0-13 hbm | 5:14-27 hbm | 6:28-41 hbm | 7:42-55 "
       "hbm",
       "", "intel-xeon-max-9480-56c-38234651"},
  };
  return all;
}

class Corpus : public testing::TestWithParam<Expected> {
 protected:
  Discovery found_ = discover_from_xml(topologies_folder() + GetParam().file + ".xml");
};

TEST_P(Corpus, HasTheExpectedHardwareThreads) {
  const Topology& topology = found_.topology;
  EXPECT_EQ(topology.cpu_model, GetParam().cpu_model);
  EXPECT_EQ(topology.pus.text(), GetParam().pus);
  EXPECT_EQ(topology.offline.text(), GetParam().offline);
  EXPECT_EQ(found_.allowed.text(), GetParam().allowed);
  EXPECT_EQ(core_count(topology), GetParam().cores);
  EXPECT_EQ(kinds_text(topology), GetParam().kinds);
}

TEST_P(Corpus, HasTheExpectedTree) {
  const Topology& topology = found_.topology;
  EXPECT_EQ(levels_text(topology), GetParam().levels);
  EXPECT_EQ(joined(joining_levels(topology), " "), GetParam().joining);
  EXPECT_EQ(numa_text(topology), GetParam().numa);
}

// Machine files are found by their fingerprint, so a change would make existing files unusable.
TEST_P(Corpus, KeepsItsFingerprint) {
  EXPECT_EQ(fingerprint(found_.topology), GetParam().fingerprint);
}

TEST_P(Corpus, HasAHomeNodeForEveryHardwareThread) {
  for (const int pu : found_.topology.pus) {
    const NumaNode* home = home_node(found_.topology, pu);
    ASSERT_NE(home, nullptr) << pu;
    EXPECT_FALSE(home->memory_only);
    EXPECT_TRUE(home->cpus.contains(pu));
  }
}

TEST_P(Corpus, HasAValidGenericMachine) {
  EXPECT_NO_THROW(validate(generic_machine(found_.topology)));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Corpus, testing::ValuesIn(corpus()), [](const auto& test) {
  std::string name = test.param.file;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(CorpusFolder, HasAnExpectationForEveryFile) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(topologies_folder())) {
    if (entry.path().extension() == ".xml") files.insert(entry.path().stem().string());
  }
  std::set<std::string> expected;
  for (const Expected& machine : corpus()) expected.insert(machine.file);
  EXPECT_EQ(files, expected);
}

// Recorded files must not contain names of hosts or kernels, because they are published.
TEST(CorpusFolder, ContainsNoHostNames) {
  for (const Expected& machine : corpus()) {
    const std::string text = read_text(topologies_folder() + machine.file + ".xml");
    for (const char* name : {"HostName", "OSRelease", "OSVersion", "DMI"}) {
      EXPECT_EQ(text.find(name), std::string::npos) << machine.file << " has " << name;
    }
  }
}

Topology topology_of(const std::string& file) {
  return discover_from_xml(topologies_folder() + file + ".xml").topology;
}

TEST(CorpusDistances, FollowTheOrderOfNodes) {
  EXPECT_THAT(topology_of("epyc-2x64-nps1-smt").numa_distances, ElementsAre(10, 32, 32, 10));
  // This file lists the nodes as 0, 2, 1, 3.
  EXPECT_THAT(topology_of("cxl-2x8").numa_distances,
              ElementsAre(10, 21, 14, 24, 21, 10, 24, 24, 14, 24, 10, 26, 24, 24, 26, 10));
  EXPECT_THAT(topology_of("guest-2-cores").numa_distances, IsEmpty());
}

TEST(CorpusCaches, KeepTheirSizes) {
  const Topology hybrid = topology_of("hybrid-8p-8e");
  const Level* l2 = find_level(hybrid, "l2");
  ASSERT_NE(l2, nullptr);
  EXPECT_EQ(l2->bytes.front(), 1280U * 1024);
  EXPECT_EQ(l2->bytes.back(), 2048U * 1024);
  const Topology small_and_big = topology_of("arm-big-little");
  EXPECT_THAT(find_level(small_and_big, "l2")->bytes, ElementsAre(512U * 1024, 2048U * 1024));
}

// A machine has the same fingerprint in every cgroup.
TEST(CorpusAllowed, DoesNotAffectTheFingerprint) {
  std::string text = read_text(topologies_folder() + "cgroup-half-of-2x8.xml");
  const std::string half = "allowed_cpuset=\"0x00000f0f\"";
  const std::size_t place = text.find(half);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, half.size(), "allowed_cpuset=\"0x0000ffff\"");
  const test::Scratch scratch;
  const Discovery whole = discover_from_xml(scratch.write("whole.xml", text));
  EXPECT_EQ(whole.allowed.text(), "0-15");
  EXPECT_EQ(fingerprint(whole.topology), fingerprint(topology_of("cgroup-half-of-2x8")));
}

// Truncated before the first object, because hwloc 2.9 leaks memory if it is truncated later.
TEST(CorpusDamaged, FilesAreNamedInTheError) {
  const test::Scratch scratch;
  const std::string whole = read_text(topologies_folder() + "i7-6700.xml");
  const std::string path = scratch.write("cut.xml", whole.substr(0, whole.find("<object")));
  EXPECT_THAT([&] { discover_from_xml(path); }, ThrowsMessage<InputError>(HasSubstr("cut.xml")));
}

}  // namespace
}  // namespace huddle::machine
