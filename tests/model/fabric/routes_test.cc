// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/routes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/fabric/fabric.h"
#include "model/fabric/fabric_file.h"

namespace huddle::fabric {
namespace {

using testing::ElementsAre;

const machine::Network network = {"test", 1, {{8}, {1000}, {}}, 0, 10};

std::string text(const std::string& routing, const std::string& wiring, int groups) {
  return fmt::format(
      "schema = 1\nname = \"x\"\nrouting = \"{}\"\n[[level]]\nname = \"leaf\"\nof = 2\n"
      "[[level]]\nname = \"pod\"\nof = 4\nwiring = \"{}\"\nlinks = 2\ngb_per_s = 10\nlatency_ns = "
      "100\norigin = \"estimated\"\n"
      "[[level]]\nname = \"top\"\nof = {}\nwiring = \"{}\"\nlinks = 3\ngb_per_s = "
      "5\nlatency_ns = 1000\norigin = \"estimated\"\n",
      routing, wiring, groups, wiring);
}

struct Way {
  std::vector<std::string> names;
  Path path;
};

Way way(const Fabric& fabric, int from, int to) {
  const Routes routes(fabric, network);
  Way way;
  std::vector<int> links;
  way.path = routes.path(from, to, links);
  for (const int link : links) way.names.push_back(routes.name(link));
  return way;
}

TEST(Routes, GoThroughTheLowestCommonSwitch) {
  const Fabric fabric = parse_fabric(text("adaptive", "through", 3), "x");
  const Way near = way(fabric, 0, 1);
  EXPECT_THAT(near.names, ElementsAre("node 0 out", "node 1 in"));
  EXPECT_EQ(near.path.height, 0);
  EXPECT_EQ(near.path.latency_ns, 0);
  const Way pod = way(fabric, 0, 7);
  EXPECT_THAT(pod.names, ElementsAre("node 0 out", "leaf 0.0 up", "leaf 0.3 down", "node 7 in"));
  EXPECT_EQ(pod.path.height, 1);
  EXPECT_EQ(pod.path.latency_ns, 200);
  const Way far = way(fabric, 0, 23);
  EXPECT_THAT(far.names, ElementsAre("node 0 out", "leaf 0.0 up", "pod 0 up", "pod 2 down",
                                     "leaf 2.3 down", "node 23 in"));
  EXPECT_EQ(far.path.height, 2);
  EXPECT_EQ(far.path.latency_ns, 2200);
}

TEST(Routes, SelectAParallelLinkByDestination) {
  const Fabric fabric = parse_fabric(text("by_destination", "through", 3), "x");
  EXPECT_THAT(way(fabric, 0, 23).names,
              ElementsAre("node 0 out", "leaf 0.0 up, link 1", "pod 0 up, link 2",
                          "pod 2 down, link 2", "leaf 2.3 down, link 1", "node 23 in"));
}

TEST(Routes, MergeParallelLinksIfAdaptive) {
  const Fabric fabric = parse_fabric(text("adaptive", "through", 3), "x");
  const Routes routes(fabric, network);
  std::vector<int> links;
  routes.path(0, 23, links);
  EXPECT_EQ(routes.gb_per_s(links[0]), 10);
  EXPECT_EQ(routes.gb_per_s(links[1]), 20);
  EXPECT_EQ(routes.gb_per_s(links[2]), 15);
}

TEST(Routes, UseTheRouterOfTheCableInADragonfly) {
  const Fabric fabric = parse_fabric(text("adaptive", "direct", 3), "x");
  const Way group = way(fabric, 0, 7);
  EXPECT_THAT(group.names, ElementsAre("node 0 out", "leaf 0.0 to leaf 0.3, link 1", "node 7 in"));
  // Pod 0's links to pod 2 are its fourth to sixth, distributed over four routers: link 23 % 3 = 2
  // is at router 1. Pod 0 is pod 2's first neighbour: the other end is at router 2.
  const Way far = way(fabric, 0, 23);
  EXPECT_THAT(far.names,
              ElementsAre("node 0 out", "leaf 0.0 to leaf 0.1, link 1", "pod 0 to pod 2, link 2",
                          "leaf 2.2 to leaf 2.3, link 1", "node 23 in"));
  EXPECT_EQ(far.path.latency_ns, 1200);
  EXPECT_EQ(far.path.height, 2);
}

TEST(Routes, DistributeCablesBetweenGroupsOverAllLeaves) {
  const std::string links = "gb_per_s = 10\nlatency_ns = 100\norigin = \"estimated\"\n";
  const Fabric fabric = parse_fabric(
      "schema = 1\nname = \"x\"\nrouting = \"adaptive\"\n[[level]]\nname = \"leaf\"\nof = 2\n"
      "[[level]]\nname = \"pod\"\nof = 2\nwiring = \"through\"\n" +
          links + "[[level]]\nname = \"group\"\nof = 2\nwiring = \"through\"\n" + links +
          "[[level]]\nname = \"top\"\nof = 5\nwiring = \"direct\"\n" + links,
      "x");
  // Group 0 has four leaves and four cables, one per other group: the last one is at node 6's leaf.
  EXPECT_THAT(way(fabric, 6, 32).names,
              ElementsAre("node 6 out", "group 0 to group 4", "node 32 in"));
}

// For every wiring: a path starts at the source's link, ends at the destination's, passes no link
// twice, and has the total latency of its links.
TEST(Routes, ConnectEveryPairWithoutDetour) {
  for (const char* wiring : {"through", "direct"}) {
    for (const char* routing : {"adaptive", "by_destination"}) {
      const Fabric fabric = parse_fabric(text(routing, wiring, 5), "x");
      const Routes routes(fabric, network);
      for (int from = 0; from < fabric.nodes(); ++from) {
        for (int to = 0; to < fabric.nodes(); ++to) {
          if (from == to) continue;
          std::vector<int> links;
          const Path path = routes.path(from, to, links);
          EXPECT_EQ(routes.name(links.front()), fmt::format("node {} out", from));
          EXPECT_EQ(routes.name(links.back()), fmt::format("node {} in", to));
          EXPECT_EQ(std::set<int>(links.begin(), links.end()).size(), links.size());
          double ns = 0;
          for (const int link : links) ns += routes.latency_ns(link);
          EXPECT_EQ(ns, path.latency_ns);
          EXPECT_LE(links.size(), 6U);
        }
      }
    }
  }
}

TEST(Routes, MissingBandwidthIsEnoughForAllNodesBelow) {
  const Fabric fabric = parse_fabric(
      "SwitchName=a Nodes=n[0-2]\nSwitchName=b Nodes=m[0-1]\nSwitchName=t "
      "Switches=a,b\n",
      "x");
  const Routes routes(fabric, network);
  std::vector<int> links;
  routes.path(0, 4, links);
  EXPECT_EQ(routes.gb_per_s(links[1]), 30);
  EXPECT_EQ(routes.gb_per_s(links[2]), 20);
}

TEST(Placement, PlacesInBlocksRoundRobinOrAtRandom) {
  const Fabric fabric = parse_fabric(text("adaptive", "through", 1), "x");
  EXPECT_THAT(place(fabric, 4, Placement::block, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(place(fabric, 6, Placement::round_robin, 0), ElementsAre(0, 2, 4, 6, 1, 3));
  const std::vector<int> random = place(fabric, 8, Placement::random, 7);
  EXPECT_EQ(random, place(fabric, 8, Placement::random, 7));
  EXPECT_NE(random, place(fabric, 8, Placement::random, 8));
  EXPECT_THAT(random, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace huddle::fabric
