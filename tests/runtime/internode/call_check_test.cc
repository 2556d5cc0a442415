// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/call_check.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "mail.h"
#include "runtime/context/errors.h"
#include "runtime/internode/node_map.h"

namespace huddle::internode {
namespace {

const team::CallArguments small_bcast{select::Operation::bcast, 0, 10};
const team::CallArguments large_bcast{select::Operation::bcast, 0, 1000};
const team::CallArguments other_root{select::Operation::bcast, 1, 10};

// Two ranks on two nodes. Rank 0 waits for rank 1.
class CallChecks : public testing::Test {
 protected:
  // Enough checks for a rank to send its questions.
  void check_first(int times = 5) {
    for (int i = 0; i < times; ++i) first_.check();
  }
  void receive() { ticket_ = first_wire_.receive(1, buffer_); }
  void send() { second_wire_.send(0, buffer_); }

  std::array<std::byte, 10> buffer_{};
  NodeMap map_{std::vector<std::uint64_t>{1, 2}};
  test::Mail mail_;
  test::MailEnd first_wire_{mail_, 0};
  test::MailEnd second_wire_{mail_, 1};
  CallCheck first_{first_wire_, map_, 0};
  CallCheck second_{second_wire_, map_, 1};
  schedules::Wire::Ticket ticket_ = 0;
};

TEST_F(CallChecks, MessageOfOtherCallIsNotReceived) {
  first_.begin(small_bcast);
  second_.begin(large_bcast);
  send();
  receive();
  EXPECT_FALSE(first_wire_.test(ticket_));
  try {
    first_.check();
    ADD_FAILURE() << "no error";
  } catch (const context::CallsDiffer& error) {
    EXPECT_TRUE(error.are_sizes());
  }
}

TEST_F(CallChecks, OtherRootIsNoDifferenceOfSizes) {
  first_.begin(small_bcast);
  second_.begin(other_root);
  send();
  receive();
  try {
    first_.check();
    ADD_FAILURE() << "no error";
  } catch (const context::CallsDiffer& error) {
    EXPECT_FALSE(error.are_sizes());
  }
}

TEST_F(CallChecks, EqualCallsInARowHaveDifferentMarks) {
  first_.begin(small_bcast);
  second_.begin(small_bcast);
  second_.begin(small_bcast);
  send();
  receive();
  EXPECT_FALSE(first_wire_.test(ticket_));
  EXPECT_THROW(first_.check(), context::CallsDiffer);
}

TEST_F(CallChecks, PeerThatIsLateOrAheadIsNoError) {
  first_.begin(small_bcast);
  receive();
  check_first();
  second_.begin(small_bcast);
  second_.check();
  send();
  second_.begin(large_bcast);
  send();
  second_.check();
  check_first();
  EXPECT_TRUE(first_wire_.test(ticket_));
  first_.begin(large_bcast);
  receive();
  check_first();
  EXPECT_TRUE(first_wire_.test(ticket_));
}

TEST_F(CallChecks, PeerThatSendsNothingAndContinuesIsDetected) {
  first_.begin(small_bcast);
  receive();
  second_.begin(small_bcast);
  second_.begin(small_bcast);
  check_first();
  second_.check();
  EXPECT_THROW(first_.check(), context::CallsDiffer);
}

TEST_F(CallChecks, AnswerToAnEarlierCallIsIgnored) {
  first_.begin(small_bcast);
  receive();
  check_first();
  second_.begin(small_bcast);
  send();
  second_.begin(small_bcast);
  EXPECT_TRUE(first_wire_.test(ticket_));
  second_.check();
  first_.begin(small_bcast);
  receive();
  check_first();
  send();
  EXPECT_TRUE(first_wire_.test(ticket_));
}

TEST_F(CallChecks, PeerThatWaitsInAnotherCallNamesBoth) {
  first_.begin(small_bcast);
  receive();
  check_first();
  second_.check();  // it has not begun the call
  try {
    second_.begin(large_bcast);
    second_.check();
    ADD_FAILURE() << "no error";
  } catch (const context::CallsDiffer& error) {
    EXPECT_STREQ(
        error.what(),
        "ranks make collective calls that differ: rank 0 calls bcast of 10 bytes with root "
        "0, rank 1 calls bcast of 1000 bytes with root 0");
    EXPECT_TRUE(error.are_sizes());
  }
}

TEST_F(CallChecks, ReportEndsTheCallsOfOtherNodes) {
  first_.begin(small_bcast);
  first_.report("an operator failed", false);
  first_.report("another error", false);
  try {
    second_.begin(small_bcast);
    ADD_FAILURE() << "no error";
  } catch (const context::CallsDiffer& error) {
    EXPECT_STREQ(error.what(), "an operator failed");
    EXPECT_FALSE(error.are_sizes());
  }
  second_.report("an operator failed", false);
  EXPECT_FALSE(mail_.first(1, 0)) << "the others know it";
}

TEST_F(CallChecks, WireWithFewMarksIsNotChecked) {
  test::MailEnd wire{mail_, 0, 8};
  CallCheck check(wire, map_, 0);
  check.begin(small_bcast);
  wire.receive(1, buffer_);
  for (int i = 0; i < 5; ++i) check.check();
  check.report("an operator failed", false);
  EXPECT_FALSE(mail_.first(0, 1));
}

}  // namespace
}  // namespace huddle::internode
