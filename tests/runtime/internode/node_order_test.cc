// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace huddle::internode {
namespace {

TEST(NodeOrder, IsAsGivenIfRanksAreConsecutive) {
  const NodeMap map(std::vector<std::uint64_t>{5, 5, 2, 2, 2});
  const NodeOrder order(map, 10);
  EXPECT_TRUE(order.is_as_given());
  EXPECT_EQ(order.first_offset(), 0);
  EXPECT_EQ(order.bytes(), 50U);
  EXPECT_EQ(order.start_of(1), 20U);
  EXPECT_EQ(order.bytes_of(1), 30U);
  EXPECT_EQ(order.sizes().bytes(1), 30U);
}

TEST(NodeOrder, IsAsGivenAfterALeadingGap) {
  const NodeMap map(std::vector<std::uint64_t>{5, 5, 2});
  const std::vector<node::Block> blocks = {{7, 4}, {0, 0}, {11, 5}};
  const NodeOrder order(map, node::Blocks::listed(blocks));
  EXPECT_TRUE(order.is_as_given());
  EXPECT_EQ(order.first_offset(), 7);
  EXPECT_EQ(order.start_of(1), 4U);
}

TEST(NodeOrder, IsEmptyWithoutBlocks) {
  const NodeMap map(std::vector<std::uint64_t>{5, 2});
  const std::vector<node::Block> blocks(2);
  EXPECT_EQ(NodeOrder(map, node::Blocks::listed(blocks)).bytes(), 0U);
}

// Compares with a layout computed block by block.
TEST(NodeOrder, MatchesReferenceForRandomMapsAndBlocks) {
  std::minstd_rand random(20261126);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> keys(1 + random() % 12);
    for (std::uint64_t& key : keys) key = random() % 4;
    const NodeMap map(keys);
    const bool even = round % 2 == 0;
    std::vector<node::Block> blocks;
    std::ptrdiff_t end = 0;
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
      if (!even) end += static_cast<std::ptrdiff_t>(random() % 2);
      blocks.push_back({end, even ? 3 : random() % 4});
      end += static_cast<std::ptrdiff_t>(blocks.back().bytes);
    }
    std::vector<std::byte> given(static_cast<std::size_t>(end));
    for (std::byte& byte : given) byte = static_cast<std::byte>(random());
    std::vector<std::byte> expected;
    for (int node = 0; node < map.nodes(); ++node) {
      for (int place = 0; place < map.ranks_on(node); ++place) {
        const node::Block block = blocks[static_cast<std::size_t>(map.rank_at(node, place))];
        const auto from = given.begin() + block.offset;
        expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(block.bytes));
      }
    }
    const NodeOrder order = even ? NodeOrder(map, 3) : NodeOrder(map, node::Blocks::listed(blocks));
    ASSERT_EQ(order.bytes(), expected.size());
    std::vector<std::byte> ordered(expected.size());
    order.pack(given.data(), ordered.data());
    ASSERT_EQ(ordered, expected);
    std::vector<std::byte> back(given.size());
    order.unpack(ordered.data(), back.data());
    for (const node::Block& block : blocks) {
      const auto from = given.begin() + block.offset;
      ASSERT_TRUE(std::equal(from, from + static_cast<std::ptrdiff_t>(block.bytes),
                             back.begin() + block.offset));
    }
    if (order.is_as_given()) {
      ASSERT_TRUE(
          std::equal(expected.begin(), expected.end(), given.begin() + order.first_offset()));
    }
  }
}

TEST(NodeOrder, BlocksOfANodeAreContiguous) {
  const NodeMap map(std::vector<std::uint64_t>{5, 2, 5, 5});
  const std::vector<node::Block> blocks = {{50, 4}, {0, 9}, {20, 0}, {11, 5}};
  const auto here = blocks_of_node(map, 0, node::Blocks::listed(blocks));
  ASSERT_EQ(here.size(), 3U);
  EXPECT_EQ(here[1].offset, 4);
  EXPECT_EQ(here[2].offset, 4);
  EXPECT_EQ(here[2].bytes, 5U);
}

}  // namespace
}  // namespace huddle::internode
