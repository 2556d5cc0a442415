// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <span>
#include <vector>

namespace huddle::schedules {
namespace {

using testing::ElementsAre;

// A wire that records messages; the test decides when they are complete.
class Noting : public Wire {
 public:
  struct Sent {
    const std::byte* bytes;
    std::size_t size;
    bool operator==(const Sent&) const = default;
  };

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    EXPECT_EQ(peer, 3);
    sent.push_back({bytes.data(), bytes.size()});
    return static_cast<Ticket>(sent.size() - 1);
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override { return send(peer, bytes); }
  bool test(Ticket ticket) override {
    EXPECT_TRUE(asked_until_done.count(ticket) == 0) << "a ticket that is done is not asked for";
    if (done.count(ticket) == 0) return false;
    asked_until_done.insert(ticket);
    return true;
  }

  std::vector<Sent> sent;
  std::set<Ticket> done;
  std::set<Ticket> asked_until_done;
};

using Sent = Noting::Sent;

TEST(InPieces, BothEndsCutAtTheSameOffsets) {
  std::vector<std::byte> data(25);
  Noting wire;
  InPieces in_pieces(wire, 10);
  in_pieces.send(3, data);
  const std::vector<Sent> sent = wire.sent;
  EXPECT_THAT(sent, ElementsAre(Sent{data.data(), 10}, Sent{data.data() + 10, 10},
                                Sent{data.data() + 20, 5}));
  wire.sent.clear();
  in_pieces.receive(3, data);
  EXPECT_EQ(wire.sent, sent);
}

TEST(InPieces, SmallAndEmptyMessagesAreNotCut) {
  std::vector<std::byte> data(10);
  Noting wire;
  InPieces in_pieces(wire, 10);
  in_pieces.send(3, data);
  in_pieces.send(3, std::span(data).first(0));
  EXPECT_THAT(wire.sent, ElementsAre(Sent{data.data(), 10}, Sent{data.data(), 0}));
}

TEST(InPieces, CompletesWithTheLastPiece) {
  std::vector<std::byte> data(30);
  Noting wire;
  InPieces in_pieces(wire, 10);
  const Wire::Ticket first = in_pieces.send(3, data);
  const Wire::Ticket second = in_pieces.receive(3, std::span(data).first(1));
  EXPECT_FALSE(in_pieces.test(first));
  wire.done = {0, 2, 3};
  EXPECT_FALSE(in_pieces.test(first));
  EXPECT_TRUE(in_pieces.test(second));
  wire.done.insert(1);
  EXPECT_TRUE(in_pieces.test(first));
}

}  // namespace
}  // namespace huddle::schedules
