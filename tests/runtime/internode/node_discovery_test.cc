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
    Meeting meeting(letters_end, all.rank, ranks);
    function(meeting, hails_end);
  });
  for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
  EXPECT_TRUE(letters.is_empty() && hails.is_empty()) << "messages that nobody received";
}

// The lowest rank, the largest number, and letters in the order of ranks, truncated if necessary.
struct Fact {
  int lowest = 0;
  int most = 0;
  std::array<char, 16> order{};

  void meet(const Fact& higher) {
    most = std::max(most, higher.most);
    const std::string both = std::string(order.data()) + higher.order.data();
    both.copy(order.data(), order.size() - 1);
  }
};

TEST(Meeting, CombinesFactsInRankOrder) {
  for (const int ranks : {1, 2, 3, 5, 8, 13}) {
    run_meeting(ranks, [&](Meeting& meeting, MailEnd&) {
      Fact mine{.lowest = meeting.rank(), .most = ranks - meeting.rank()};
      mine.order.front() = static_cast<char>('a' + meeting.rank());
      const Fact all = meeting.agree(mine);
      EXPECT_EQ(all.lowest, 0);
      EXPECT_EQ(all.most, ranks);
      EXPECT_EQ(std::string(all.order.data()),
                std::string("abcdefghijklm").substr(0, static_cast<std::size_t>(ranks)));
    });
  }
}

TEST(Meeting, StepSucceedsOnAllOrThrowsErrorOfLowestRank) {
  run_meeting(5, [&](Meeting& meeting, MailEnd&) {
    EXPECT_NO_THROW(meeting.agree_on([] {}));
    try {
      meeting.agree_on([&] {
        if (meeting.rank() % 2 == 1) throw std::runtime_error("no room");
      });
      ADD_FAILURE() << "it went on";
    } catch (const FailureError& error) {
      EXPECT_STREQ(error.what(), "rank 1: no room");
    }
  });
}

TEST(Meeting, BroadcastsFromAnyRoot) {
  run_meeting(6, [&](Meeting& meeting, MailEnd&) {
    for (int root = 0; root < 6; ++root) {
      std::vector<std::byte> bytes(1000);
      if (meeting.rank() == root) std::fill(bytes.begin(), bytes.end(), std::byte{42});
      meeting.bcast(bytes, root);
      EXPECT_EQ(bytes, std::vector<std::byte>(1000, std::byte{42}));
    }
  });
}

// The result equals that of the list of all keys, for several meetings one after the other.
TEST(Meeting, FindsPlacementOfRanks) {
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
    run_meeting(ranks, [&](Meeting& meeting, MailEnd& hails) {
      const int rank = meeting.rank();
      const Seats seats = meeting.find_seats(keys[static_cast<std::size_t>(rank)], hails);
      ASSERT_EQ(seats.nodes(), expected.nodes());
      ASSERT_EQ(seats.node, expected.node_of(rank));
      ASSERT_EQ(seats.place, expected.place_of(rank));
      ASSERT_EQ(seats.are_in_order(), expected.is_in_order());
      ASSERT_EQ(static_cast<int>(seats.here.size()), expected.ranks_on(seats.node));
      for (int node = 0; node < expected.nodes(); ++node) {
        const auto number = static_cast<std::size_t>(node);
        ASSERT_EQ(seats.starts[number], expected.ranks_before(node));
        ASSERT_EQ(seats.first_ranks[number], expected.rank_at(node, 0));
      }
      for (int place = 0; place < expected.ranks_on(seats.node); ++place) {
        ASSERT_EQ(seats.here[static_cast<std::size_t>(place)], expected.rank_at(seats.node, place));
      }
      meeting.agree_on([] {});
      if (seats.place > 0) return;
      const std::size_t size = NodeMap::table_size(ranks);
      const std::span<int> table =
          std::span(tables).subspan(size * static_cast<std::size_t>(rank), size);
      // Slices with two ranks of each node.
      meeting.fill_table(seats, table, 2 * sizeof(int) * seats.first_ranks.size());
      const NodeMap map(seats.starts,
                        std::shared_ptr<const int>(std::shared_ptr<void>(), table.data()));
      for (int other = 0; other < ranks; ++other) {
        ASSERT_EQ(map.node_of(other), expected.node_of(other));
        ASSERT_EQ(map.place_of(other), expected.place_of(other));
      }
    });
  }
}

TEST(Meeting, LostWireIsAnError) {
  Mail letters;
  letters.cut();
  MailEnd end(letters, 0);
  Meeting meeting(end, 0, 2);
  EXPECT_THROW(meeting.agree(Fact{}), std::runtime_error);
  MailEnd hails(letters, 0);
  EXPECT_THROW(meeting.find_seats(1, hails), std::runtime_error);
}

}  // namespace
}  // namespace huddle::internode
