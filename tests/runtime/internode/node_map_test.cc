// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace huddle::internode {
namespace {

NodeMap map_of(const std::vector<std::uint64_t>& keys) { return NodeMap(keys); }

TEST(NodeMap, NumbersNodesByTheirFirstRanks) {
  const NodeMap map = map_of({70, 70, 30, 30, 30, 50});
  EXPECT_EQ(map.nodes(), 3);
  EXPECT_EQ(map.ranks(), 6);
  EXPECT_EQ(map.node_of(1), 0);
  EXPECT_EQ(map.node_of(2), 1);
  EXPECT_EQ(map.place_of(4), 2);
  EXPECT_EQ(map.ranks_on(1), 3);
  EXPECT_EQ(map.rank_at(2, 0), 5);
  EXPECT_TRUE(map.is_in_order());
}

TEST(NodeMap, VisitsRunsNodeByNode) {
  const NodeMap map = map_of({1, 1, 2, 1, 2, 2});
  std::vector<std::vector<int>> runs;
  map.for_each_run([&](int first, int count, int node, int place) {
    runs.push_back({first, count, node, place});
  });
  const std::vector<std::vector<int>> expected = {
      {0, 2, 0, 0}, {3, 1, 0, 2}, {2, 1, 1, 0}, {4, 2, 1, 1}};
  EXPECT_EQ(runs, expected);
}

TEST(NodeMap, IsConstructedFromStartsOfNodes) {
  const NodeMap map(std::vector<int>{0, 2, 3, 6});
  EXPECT_EQ(map.nodes(), 3);
  EXPECT_EQ(map.node_of(5), 2);
  EXPECT_EQ(map.place_of(5), 2);
  EXPECT_TRUE(map.is_in_order());
}

TEST(NodeMap, UsesExternalTable) {
  static std::vector<int> table = {0, 2, 4, 1, 3, -1, -1, -1, -1, -1};
  NodeMap::complete(table, std::vector<int>{0, 3, 5});
  EXPECT_EQ(table, (std::vector<int>{0, 2, 4, 1, 3, 0, 1, 0, 1, 0}));
  const NodeMap map({0, 3, 5}, std::shared_ptr<const int>(std::shared_ptr<void>(), table.data()));
  EXPECT_FALSE(map.is_in_order());
  EXPECT_EQ(map.node_of(3), 1);
  EXPECT_EQ(map.place_of(3), 1);
  EXPECT_EQ(map.rank_at(0, 2), 4);
}

TEST(NodeMap, SupportsScatteredRanks) {
  const NodeMap map = map_of({1, 2, 1, 2, 1});
  EXPECT_FALSE(map.is_in_order());
  EXPECT_EQ(map.rank_at(0, 2), 4);
  EXPECT_EQ(map.rank_at(1, 1), 3);
  EXPECT_EQ(map.place_of(4), 2);
}

// Compares with a count over all ranks.
TEST(NodeMap, MatchesReferenceForRandomKeys) {
  std::minstd_rand random(20261125);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> keys(1 + random() % 40);
    for (std::uint64_t& key : keys) key = random() % (1 + random() % 7);
    const NodeMap map = map_of(keys);
    std::map<std::uint64_t, int> node_of_key;
    std::vector<int> sizes;
    ASSERT_EQ(map.ranks(), static_cast<int>(keys.size()));
    for (int rank = 0; rank < map.ranks(); ++rank) {
      const std::uint64_t key = keys[static_cast<std::size_t>(rank)];
      const int node = node_of_key.try_emplace(key, static_cast<int>(sizes.size())).first->second;
      if (node == static_cast<int>(sizes.size())) sizes.push_back(0);
      ASSERT_EQ(map.node_of(rank), node);
      ASSERT_EQ(map.place_of(rank), sizes[static_cast<std::size_t>(node)]);
      ASSERT_EQ(map.rank_at(node, sizes[static_cast<std::size_t>(node)]++), rank);
    }
    ASSERT_EQ(map.nodes(), static_cast<int>(sizes.size()));
    for (int node = 0; node < map.nodes(); ++node) {
      ASSERT_EQ(map.ranks_on(node), sizes[static_cast<std::size_t>(node)]);
    }
  }
}

}  // namespace
}  // namespace huddle::internode
