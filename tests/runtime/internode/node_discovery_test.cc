// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/error.h"
#include "mail.h"
#include "ranks.h"
#include "runtime/internode/node_map.h"

namespace huddle::internode {
namespace {

using test::Mail;
using test::MailEnd;
using Keys = std::vector<std::uint64_t>;

// Runs function(meeting, a second wire) as `ranks` ranks.
template <typename Function>
void run_meeting(int ranks, const Function& function) {
  Mail letters;
  Mail hails;
  const auto ends = team::run_thread_ranks(ranks, [&](const team::Bootstrap& all) {
    MailEnd letters_end(letters, all.rank);
    MailEnd hails_end(hails, all.rank);
    SetUpExchange exchange(letters_end, all.rank, ranks);
    function(exchange, hails_end);
  });
  for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
  EXPECT_TRUE(letters.is_empty() && hails.is_empty()) << "messages that nobody received";
}

// The lowest rank, the largest number, and letters in the order of ranks, truncated if necessary.
struct Fact {
  int lowest = 0;
  int most = 0;
  std::array<char, 16> order{};

  void combine(const Fact& higher) {
    most = std::max(most, higher.most);
    const std::string both = std::string(order.data()) + higher.order.data();
    both.copy(order.data(), order.size() - 1);
  }
};

TEST(SetUpExchange, CombinesFactsInRankOrder) {
  for (const int ranks : {1, 2, 3, 5, 8, 13}) {
    run_meeting(ranks, [&](SetUpExchange& exchange, MailEnd&) {
      Fact mine{.lowest = exchange.rank(), .most = ranks - exchange.rank()};
      mine.order.front() = static_cast<char>('a' + exchange.rank());
      const Fact all = exchange.agree(mine);
      EXPECT_EQ(all.lowest, 0);
      EXPECT_EQ(all.most, ranks);
      EXPECT_EQ(std::string(all.order.data()),
                std::string("abcdefghijklm").substr(0, static_cast<std::size_t>(ranks)));
    });
  }
}

TEST(SetUpExchange, StepSucceedsOnAllOrThrowsErrorOfLowestRank) {
  run_meeting(5, [&](SetUpExchange& exchange, MailEnd&) {
    EXPECT_NO_THROW(exchange.agree_on([] {}));
    try {
      exchange.agree_on([&] {
        if (exchange.rank() % 2 == 1) throw std::runtime_error("no room");
      });
      ADD_FAILURE() << "it went on";
    } catch (const FailureError& error) {
      EXPECT_STREQ(error.what(), "rank 1: no room");
    }
  });
}

TEST(SetUpExchange, BroadcastsFromAnyRoot) {
  run_meeting(6, [&](SetUpExchange& exchange, MailEnd&) {
    for (int root = 0; root < 6; ++root) {
      std::vector<std::byte> bytes(1000);
      if (exchange.rank() == root) std::fill(bytes.begin(), bytes.end(), std::byte{42});
      exchange.bcast(bytes, root);
      EXPECT_EQ(bytes, std::vector<std::byte>(1000, std::byte{42}));
    }
  });
}

// The result equals that of the list of all keys, for several meetings one after the other.
TEST(SetUpExchange, FindsPlacementOfRanks) {
  std::minstd_rand random(20261127);
  std::vector<Keys> layouts = {{3}, {5, 5, 5}, {9, 9, 2, 2, 2, 7}, {1, 2, 3, 1, 2, 3}, {4, 3, 2}};
  for (int round = 0; round < 20; ++round) {
    Keys keys(2 + random() % 11);
    for (std::uint64_t& key : keys) key = ~(random() % 5);
    layouts.push_back(keys);
  }
  for (const Keys& keys : layouts) {
    const auto ranks = static_cast<int>(keys.size());
    const NodeMap expected(keys);
    std::vector<int> tables(NodeMap::table_size(ranks) * keys.size(), -1);
    run_meeting(ranks, [&](SetUpExchange& exchange, MailEnd& hails) {
      const int rank = exchange.rank();
      const RankPlaces places = exchange.find_places(keys[static_cast<std::size_t>(rank)], hails);
      ASSERT_EQ(places.nodes(), expected.nodes());
      ASSERT_EQ(places.node, expected.node_of(rank));
      ASSERT_EQ(places.place, expected.place_of(rank));
      ASSERT_EQ(places.are_in_order(), expected.is_in_order());
      ASSERT_EQ(static_cast<int>(places.here.size()), expected.ranks_on(places.node));
      for (int node = 0; node < expected.nodes(); ++node) {
        const auto number = static_cast<std::size_t>(node);
        ASSERT_EQ(places.starts[number], expected.ranks_before(node));
        ASSERT_EQ(places.first_ranks[number], expected.rank_at(node, 0));
      }
      for (int place = 0; place < expected.ranks_on(places.node); ++place) {
        ASSERT_EQ(places.here[static_cast<std::size_t>(place)],
                  expected.rank_at(places.node, place));
      }
      exchange.agree_on([] {});
      if (places.place > 0) return;
      const std::size_t size = NodeMap::table_size(ranks);
      const std::span<int> table =
          std::span(tables).subspan(size * static_cast<std::size_t>(rank), size);
      // Slices with two ranks of each node.
      exchange.fill_table(places, table, 2 * sizeof(int) * places.first_ranks.size());
      const NodeMap map(places.starts,
                        std::shared_ptr<const int>(std::shared_ptr<void>(), table.data()));
      for (int other = 0; other < ranks; ++other) {
        ASSERT_EQ(map.node_of(other), expected.node_of(other));
        ASSERT_EQ(map.place_of(other), expected.place_of(other));
      }
    });
  }
}

TEST(SetUpExchange, LostWireIsAnError) {
  Mail letters;
  letters.cut();
  MailEnd end(letters, 0);
  SetUpExchange exchange(end, 0, 2);
  EXPECT_THROW(exchange.agree(Fact{}), std::runtime_error);
  MailEnd hails(letters, 0);
  EXPECT_THROW(exchange.find_places(1, hails), std::runtime_error);
}

}  // namespace
}  // namespace huddle::internode
