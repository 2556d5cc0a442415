// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measures the heap use of one rank of a million during set-up, with the real classes: that of rank
// 0, which receives the most. A wire generates what the other ranks would send.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "heap_use.h"
#include "runtime/internode/internode_choice.h"
#include "runtime/internode/messages.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/internode/node_map.h"
#include "runtime/internode/prediction.h"
#include "sanitizer.h"

namespace huddle::internode {
namespace {

using test::HeapUse;
using test::Uncounted;

constexpr int nodes = 15'625;
constexpr int ranks_per_node = 64;
constexpr int ranks = nodes * ranks_per_node;
constexpr std::size_t mib = std::size_t{1} << 20;

enum class Layout { block, round_robin, random };

std::vector<int> nodes_by_rank(Layout layout) {
  std::vector<int> by_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    by_rank[static_cast<std::size_t>(rank)] =
        layout == Layout::round_robin ? rank % nodes : rank / ranks_per_node;
  }
  if (layout == Layout::random) {
    std::shuffle(by_rank.begin(), by_rank.end(), std::minstd_rand(20261128));
  }
  return by_rank;
}

// The key of a node. It is unrelated to the node's number.
std::uint64_t key_of(int node) {
  return static_cast<std::uint64_t>(node + 1) * 0x9e3779b97f4a7c15U;
}

// Generates the messages of others to rank 0, in the order of its receives.
class PlayedWire : public RankWire {
 public:
  using Answer = std::function<void(int peer, std::span<std::byte> bytes)>;

  void play(Answer answer) {
    const Uncounted own;
    answer_ = std::move(answer);
  }
  int messages() const { return messages_; }

  Ticket send(int /*peer*/, std::span<const std::byte> /*bytes*/) override {
    ++messages_;
    return 0;
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    const Uncounted own;
    ++messages_;
    answer_(peer, bytes);
    return 0;
  }
  Ticket receive_from_any(std::span<std::byte> bytes) override { return receive(-1, bytes); }
  bool test(Ticket /*ticket*/) override { return true; }
  // Without marks, calls are not compared.
  Mark marks() const override { return 1; }
  void set_mark(Mark /*mark*/) override {}
  std::vector<int> awaited() const override { return {}; }
  std::optional<Mark> first_unexpected(int /*peer*/) override { return std::nullopt; }
  bool cancel_receives(int /*peer*/) override { return false; }
  void post(int /*peer*/, Mark /*mark*/, std::span<const std::byte> /*bytes*/) override {}
  void deliver_posted() override {}
  bool read(int /*peer*/, Mark /*mark*/, std::span<std::byte> /*bytes*/) override { return false; }
  std::optional<int> read_any(Mark /*mark*/, std::span<std::byte> /*bytes*/) override {
    return std::nullopt;
  }

 private:
  Answer answer_;
  int messages_ = 0;
};

// A fact of the size that ranks exchange during set-up.
struct Fact {
  std::array<std::uint64_t, 40> numbers{};
  void combine(const Fact& higher) { numbers[0] = std::max(numbers[0], higher.numbers[0]); }
};

class Large : public testing::TestWithParam<Layout> {
 protected:
  // The node counts that rank `peer` sends for the ranks of its subtree: first their number, then
  // the counts sorted by key.
  PlayedWire::Answer counts() {
    return [this, of = std::vector<std::byte>(), asked = 0](int peer,
                                                            std::span<std::byte> bytes) mutable {
      struct NodeCount {
        std::uint64_t key;
        int first;
        int ranks;
      };
      if (asked++ % 2 == 0) {
        std::vector<NodeCount> by_node(nodes);
        for (int rank = std::min(2 * peer, ranks) - 1; rank >= peer; --rank) {
          NodeCount& count = by_node[static_cast<std::size_t>(node_of(rank))];
          count = {key_of(node_of(rank)), rank, count.ranks + 1};
        }
        std::erase_if(by_node, [](const NodeCount& count) { return count.ranks == 0; });
        std::sort(by_node.begin(), by_node.end(),
                  [](const NodeCount& a, const NodeCount& b) { return a.key < b.key; });
        const auto all = std::as_bytes(std::span(by_node));
        of.assign(all.begin(), all.end());
        const std::uint64_t number = by_node.size();
        ASSERT_EQ(bytes.size(), sizeof number);
        std::memcpy(bytes.data(), &number, sizeof number);
        return;
      }
      ASSERT_EQ(bytes.size(), of.size());
      std::copy(of.begin(), of.end(), bytes.begin());
    };
  }
  // The other ranks of rank 0's node.
  PlayedWire::Answer neighbours() {
    return [this, rank = 0](int /*peer*/, std::span<std::byte> bytes) mutable {
      do ++rank;
      while (node_of(rank) != node_of(0));
      std::memcpy(bytes.data(), &rank, sizeof rank);
    };
  }
  // The slices of the table that the first ranks of nodes send. A slice begins with the message for
  // node 1; each message contains the ranks of this slice for each of its nodes.
  PlayedWire::Answer slices(const std::vector<int>& starts, const std::vector<int>& first_ranks) {
    return [this, &starts, &first_ranks, place = 0, next_place = 0](
               int peer, std::span<std::byte> bytes) mutable {
      const auto found = std::find(first_ranks.begin(), first_ranks.end(), peer);
      const auto node = static_cast<std::size_t>(found - first_ranks.begin());
      if (node == 1) {
        place = next_place;
        next_place += static_cast<int>(bytes.size() / sizeof(int));
      }
      const auto here = static_cast<std::size_t>(next_place - place);
      const std::size_t many = bytes.size() / sizeof(int) / here;
      for (std::size_t i = 0; i < many; ++i) {
        const int from = starts[node + i] + place;
        std::memcpy(bytes.data() + i * here * sizeof(int), by_node_.data() + from,
                    here * sizeof(int));
      }
    };
  }

  int node_of(int rank) const { return by_rank_[static_cast<std::size_t>(rank)]; }

  const std::vector<int> by_rank_ = nodes_by_rank(GetParam());
  std::vector<int> by_node_;
};

TEST_P(Large, SetUpAndChoiceUseAtMostOneMiB) {
  if (team::sanitizer_owns_new) GTEST_SKIP() << team::why_memory_is_never_scarce;
  std::vector<std::uint64_t> keys;
  for (const int node : by_rank_) keys.push_back(key_of(node));
  const NodeMap expected(keys);
  for (int node = 0; node < nodes; ++node) {
    for (int place = 0; place < ranks_per_node; ++place) {
      by_node_.push_back(expected.rank_at(node, place));
    }
  }
  std::vector<int> table(NodeMap::table_size(ranks));
  const HeapUse use;
  PlayedWire wire;
  PlayedWire hails;

  wire.play(
      [](int, std::span<std::byte> bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{}); });
  SetUpExchange exchange(wire, 0, ranks);
  exchange.agree(Fact{});
  wire.play(counts());
  hails.play(neighbours());
  RankPlaces places = exchange.find_places(key_of(node_of(0)), hails);
  ASSERT_EQ(places.nodes(), nodes);
  std::shared_ptr<const int> common;
  if (!places.are_in_order()) {
    wire.play(slices(places.starts, places.first_ranks));
    exchange.fill_table(places, table);
    common = std::shared_ptr<const int>(std::shared_ptr<void>(), table.data());
  }
  const NodeMap map(std::move(places.starts), common);
  places = {};
  EXPECT_LE(use.most_bytes(), mib);
  // Each part takes a logarithmic number of rounds with one or two messages in each direction: the
  // agreement, the counts, the broadcast of the nodes, and each of 16 slices of the table.
  EXPECT_LE(wire.messages(), 2 * 20 * (1 + 2 + 2 + 16));

  for (int rank = 0; rank < ranks; rank += 997) {
    ASSERT_EQ(map.node_of(rank), expected.node_of(rank));
    ASSERT_EQ(map.place_of(rank), expected.place_of(rank));
  }
  for (const select::Operation operation : select::operations) {
    if (way_between_nodes(operation) != Way::schedule) continue;
    for (const std::size_t bytes : {std::size_t{64}, mib}) {
      const Prediction prediction = predict(operation, bytes, map, {25'000, 840'000, 1}, {});
      EXPECT_FALSE(prediction.between.algorithm.empty());
    }
  }
  EXPECT_LE(use.most_bytes(), mib);
  // Memory that the ranks of a node share.
  EXPECT_LE(table.size() * sizeof(int), 8 * mib);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Large,
                         testing::Values(Layout::block, Layout::round_robin, Layout::random));

}  // namespace
}  // namespace huddle::internode
