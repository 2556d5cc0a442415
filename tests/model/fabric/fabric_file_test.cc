// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/fabric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "common/error.h"
#include "common/file.h"
#include "model/fabric/routes.h"

namespace huddle::fabric {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

const std::string folder = HUDDLE_SOURCE_DIR "/machines/fabrics/";

const std::string levels_text = R"(schema = 1
name = "two levels"
machine = "node.toml"
routing = "by_destination"

[[level]]
name = "leaf"
of = 4

[[level]]
name = "spine"
of = 3
links = 2
gb_per_s = 12.5
latency_ns = 100
origin = "estimated"
)";

const std::string switches_text = R"(schema = 1
name = "by name"

[[switch]]
name = "top"
switches = "leaf[0-1]"

[[switch]]
name = "leaf0"
nodes = "n[0-2]"
links = 2
gb_per_s = 1
latency_ns = 50
origin = "published"

[[switch]]
name = "leaf1"
nodes = "n[3-4]"
gb_per_s = 1
latency_ns = 50
origin = "published"
)";

std::string damaged(std::string text, const std::string& piece, const std::string& by) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), by);
}

void expect_refused(const std::string& text, const std::string& start, const std::string& reason) {
  EXPECT_THAT([&] { parse_fabric(text, "f.toml"); },
              ThrowsMessage<InputError>(AllOf(StartsWith(start), HasSubstr(reason))));
}

TEST(FabricFile, BuildsTheTreeFromLevels) {
  const Fabric fabric = parse_fabric(levels_text, "f.toml");
  EXPECT_EQ(fabric.nodes(), 12);
  EXPECT_EQ(levels(fabric), 2);
  EXPECT_EQ(fabric.routing, Routing::by_destination);
  ASSERT_EQ(fabric.switches.size(), 4U);
  EXPECT_EQ(fabric.switches[2].name, "leaf 1");
  EXPECT_EQ(fabric.switches[2].links, (Links{2, 12.5, 100, machine::Origin::estimated}));
  EXPECT_EQ(fabric.switch_of_node, (std::vector<int>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

TEST(FabricFile, BuildsTheTreeFromSwitchesInAnyOrder) {
  const Fabric fabric = parse_fabric(switches_text, "f.toml");
  EXPECT_EQ(fabric.nodes(), 5);
  EXPECT_EQ(fabric.switches.front().name, "top");
  EXPECT_EQ(fabric.switch_of_node, (std::vector<int>{1, 1, 1, 2, 2}));
  EXPECT_EQ(fabric.switches[1].links.count, 2);
}

TEST(FabricFile, ErrorsNameTheLineAndTheReason) {
  expect_refused("schema = ", "f.toml:1:", "not TOML");
  expect_refused(std::string("\x7f"
                             "ELF\x02\0\x01",
                             7),
                 "f.toml:1:", "not TOML");
  expect_refused("", "f.toml:", "'schema' is missing");
  expect_refused("schema = 1\nname = \"x\"\n", "f.toml:", "either [[level]]");
  expect_refused(damaged(levels_text, "schema = 1", "schema = 9"),
                 "f.toml:1:", "newer version of huddle");
  expect_refused(damaged(levels_text, "of = 3", "of = 0"), "f.toml:12:", "whole number");
  expect_refused(damaged(levels_text, "of = 3", "of = 900000"), "f.toml:12:", "more than");
  expect_refused(damaged(levels_text, "gb_per_s = 12.5", "gb_per_s = 0"),
                 "f.toml:14:", "impossible");
  expect_refused(damaged(levels_text, "gb_per_s = 12.5", "gb_per_s = nan"), "f.toml:14:", "finite");
  expect_refused(damaged(levels_text, "latency_ns = 100", "latency_ns = -1"),
                 "f.toml:15:", "impossible");
  expect_refused(damaged(levels_text, "links = 2", "link = 2"), "f.toml:13:", "unknown key 'link'");
  expect_refused(damaged(levels_text, "\"by_destination\"", "\"by_luck\""),
                 "f.toml:4:", "'by_luck' is not one of");
}

TEST(FabricFile, RejectsCycles) {
  std::string text = damaged(switches_text, "nodes = \"n[0-2]\"", "switches = \"a\"");
  text +=
      "[[switch]]\nname = \"a\"\nswitches = \"b\"\ngb_per_s = 1\nlatency_ns = 0\norigin = "
      "\"estimated\"\n[[switch]]\nname = \"b\"\nswitches = \"leaf0\"\n";
  expect_refused(text, "f.toml:", "is below both");  // it has two parents
  text = damaged(text, "leaf[0-1]", "leaf1");
  expect_refused(text, "f.toml:", "is below itself");
}

TEST(FabricFile, RejectsInconsistentSwitches) {
  expect_refused(damaged(switches_text, "leaf[0-1]", "leaf[0-2]"),
                 "f.toml:4:", "leaf2 is not defined");
  expect_refused(damaged(switches_text, "n[3-4]", "n[2-4]"), "f.toml:16:", "is connected to two");
  expect_refused(damaged(switches_text, "n[3-4]", "n[4-2]"), "f.toml:18:", "backwards");
  expect_refused(damaged(switches_text, "n[3-4]", "n[4"), "f.toml:18:", "brackets");
  expect_refused(damaged(switches_text, "\"leaf[0-1]\"", "\"leaf0\""),
                 "f.toml:16:", "are not connected");
  expect_refused(damaged(switches_text, "links = 2\ngb_per_s = 1\n", ""), "f.toml:", "unknown key");
  expect_refused(damaged(switches_text, "name = \"leaf1\"", "name = \"leaf0\""),
                 "f.toml:16:", "twice");
}

const std::string slurm_text = R"(# a cluster
SwitchName=s0 Nodes=tux[0-3],extra LinkSpeed=100
switchname=s1 nodes=tux[04-06] \
  # the rest of the line
SwitchName=root Switches=s[0-1]
)";

TEST(TopologyConf, IsAFabricWithAssumptions) {
  const Fabric fabric = parse_fabric(slurm_text, "topology.conf");
  EXPECT_EQ(fabric.name, "topology");
  EXPECT_EQ(fabric.nodes(), 8);
  EXPECT_EQ(fabric.switches.size(), 3U);
  EXPECT_EQ(fabric.doubts.size(), 2U);
  EXPECT_EQ(fabric.switches[1].links.gb_per_s, 0);
}

void expect_conf_refused(const std::string& text, const std::string& start,
                         const std::string& reason) {
  EXPECT_THAT([&] { parse_fabric(text, "t.conf"); },
              ThrowsMessage<InputError>(AllOf(StartsWith(start), HasSubstr(reason))));
}

TEST(TopologyConf, ErrorsNameTheLineAndTheReason) {
  expect_conf_refused("SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
                      "t.conf:", "is below itself");
  expect_conf_refused("SwitchName=a Nodes=n[0-3] Foo=1\n", "t.conf:1:", "'Foo=1'");
  expect_conf_refused("SwitchName=a\n", "t.conf:1:", "either nodes or switches");
  expect_conf_refused("BlockName=a Nodes=n[0-3]\n", "t.conf:1:", "topology/block");
  expect_conf_refused("SwitchName=a Nodes=n[0-3]\nNodes=x\n", "t.conf:2:", "'SwitchName'");
  expect_conf_refused("SwitchName=a Nodes=n[0-99999999]\n", "t.conf:1:", "too many");
}

class Given : public testing::TestWithParam<std::string> {};

std::vector<std::string> given_fabrics() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

TEST_P(Given, IsValidAndFindsItsMachine) {
  const Cluster cluster = load_cluster(folder + GetParam() + ".toml", "");
  EXPECT_EQ(cluster.fabric.name, GetParam());
  EXPECT_FALSE(cluster.fabric.method.empty());
  for (const Switch& one : cluster.fabric.switches) {
    EXPECT_NE(one.links.origin, machine::Origin::measured) << "nobody measured it";
  }
  const Routes routes(cluster.fabric, cluster.network);
  std::vector<int> links;
  const Path far = routes.path(0, cluster.fabric.nodes() - 1, links);
  EXPECT_EQ(far.height, levels(cluster.fabric) - 1);
  EXPECT_GT(far.latency_ns, 0);
}

// The CPU time is part of the time of a message.
TEST_P(Given, HasTheCpuTimeOfMessages) {
  const Cluster cluster = load_cluster(folder + GetParam() + ".toml", "");
  EXPECT_GT(cluster.network.cpu_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, Given, testing::ValuesIn(given_fabrics()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Given, FabricsAreTheClustersAndTheExamples) {
  EXPECT_THAT(given_fabrics(),
              testing::ElementsAre("dawning-4000a-ethernet", "deepcomp-6800-ethernet",
                                   "deepcomp-6800-qsnet", "dragonfly", "fat-tree-1to1",
                                   "fat-tree-2to1", "songshan-four-rails"));
}

TEST(Cluster, NeedsAMachineWithANetwork) {
  const std::filesystem::path scratch =
      std::filesystem::path(testing::TempDir()) / "huddle-fabric-cluster";
  std::filesystem::create_directories(scratch);
  const std::string conf = (scratch / "topology.conf").string();
  write_text(slurm_text, conf);
  EXPECT_THAT([&] { load_cluster(conf, ""); },
              ThrowsMessage<InputError>(AllOf(StartsWith(conf), HasSubstr("--machine"))));
  const std::string machines = HUDDLE_SOURCE_DIR "/machines/";
  EXPECT_EQ(load_cluster(conf, machines + "songshan.toml").network.rails, 4);
  EXPECT_THAT([&] { load_cluster(conf, machines + "deepcomp-6800.toml"); },
              ThrowsMessage<InputError>(HasSubstr("several networks")));
  EXPECT_THAT([&] { load_cluster(conf, machines + "amd-epyc-2c-a606becc.toml"); },
              ThrowsMessage<InputError>(HasSubstr("no [[network]]")));
  std::filesystem::remove_all(scratch);
}

}  // namespace
}  // namespace huddle::fabric
