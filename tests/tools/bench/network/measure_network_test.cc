// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/network/measure_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"

namespace huddle::bench::network {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Steps : public Watcher {
 public:
  void begin_step(std::string_view name) override { names.emplace_back(name); }
  std::vector<std::string> names;
};

const std::string hosts = "huddle-network: hosts 4 8 0 Open MPI v4.1.4, package: Debian\n";
const std::string figures =
    "huddle-network: step messages\n"
    "huddle-network: message 8 50000 0.1\n"
    "huddle-network: message 1000000 80050000 0.2\n"
    "huddle-network: cpu 3000\n"
    "huddle-network: gap 900\n"
    "huddle-network: rate 0.0125\n"
    "huddle-network: step bcast\n"
    "huddle-network: call bcast 8 120000 0.01\n"
    "huddle-network: call bcast 1024 130000 0.02\n"
    "huddle-network: call reduce 8 140000 0.03\n";
const std::string done = "huddle-network: done \n";

TEST(NetworkReader, ReadsOnlyLinesWithTheMark) {
  Steps steps;
  Reader reader(steps);
  const std::string all = "a warning\n[h1] " + hosts + figures + done;
  // Output may arrive in pieces of any size.
  for (const char letter : all) reader.read(std::string_view(&letter, 1));
  const Measured measured = reader.take();
  EXPECT_THAT(steps.names, ElementsAre("messages", "bcast"));
  EXPECT_EQ(measured.mpi, "Open MPI v4.1.4");
  EXPECT_EQ(measured.hosts, 4);
  EXPECT_EQ(measured.ranks, 8);
  EXPECT_FALSE(measured.in_order);
  EXPECT_THAT(measured.network.curve.ns, ElementsAre(50000, 80050000));
  EXPECT_EQ(measured.network.cpu_ns, 3000);
  EXPECT_EQ(measured.network.gap_ns, 900);
  EXPECT_EQ(measured.network.node_gb_per_s, 0.0125);
  EXPECT_EQ(measured.network.origin, machine::Origin::measured);
  ASSERT_EQ(measured.collectives.size(), 2U);
  EXPECT_EQ(measured.collectives[0].operation, "bcast");
  EXPECT_THAT(measured.collectives[0].curve.bytes, ElementsAre(8, 1024));
  EXPECT_FALSE(measured.collectives[0].in_order);
  EXPECT_EQ(measured.collectives[1].operation, "reduce");
}

// Machine files in which CPU time exceeds the message time are refused.
TEST(NetworkReader, CpuTimeIsAtMostTheMessageTime) {
  Steps steps;
  Reader reader(steps);
  reader.read(hosts + "huddle-network: message 8 1000 0\nhuddle-network: message 16 1000 0\n" +
              "huddle-network: cpu 3000\n" + done);
  EXPECT_EQ(reader.take().network.cpu_ns, 500);
}

// Returns results for a one-way time of 40,000 ns.
Measured sending_to_each_other(const std::string& both_ways) {
  Steps steps;
  Reader reader(steps);
  reader.read(hosts +
              "huddle-network: message 8 40000 0\nhuddle-network: message 1000000 40000 0\n" +
              both_ways + done);
  return reader.take();
}

// Smaller pieces take hardly less than those of 32 K.
TEST(NetworkReader, CutsMessagesIfPiecesPassEachOtherFaster) {
  const machine::Network network =
      sending_to_each_other(
          "huddle-network: both 524288 80000\nhuddle-network: both 65536 60000\n"
          "huddle-network: both 32768 44000\nhuddle-network: both 16384 41000\n")
          .network;
  EXPECT_EQ(network.piece_bytes, 32768);
  EXPECT_NEAR(network.both_ways.value_or(0), 1.1, 1e-9);
}

TEST(NetworkReader, LeavesMessagesWholeIfPiecesGainLittle) {
  const machine::Network network =
      sending_to_each_other("huddle-network: both 524288 48000\nhuddle-network: both 65536 45000\n")
          .network;
  EXPECT_FALSE(network.piece_bytes);
  EXPECT_NEAR(network.both_ways.value_or(0), 1.2, 1e-9);
  EXPECT_EQ(sending_to_each_other("huddle-network: both 524288 90000\n").network.both_ways, 2);
  EXPECT_EQ(sending_to_each_other("huddle-network: both 524288 30000\n").network.both_ways, 1);
}

void expect_failure(const std::string& said, const std::string& why) {
  Steps steps;
  Reader reader(steps);
  reader.read(said);
  EXPECT_THAT([&] { reader.take(); }, ThrowsMessage<FailureError>(HasSubstr(why)));
}

TEST(NetworkReader, ReportsWhyNothingWasMeasured) {
  expect_failure("huddle-network: hosts 1 4 1 An MPI\n", "all 4 ranks run on one host");
  expect_failure("there are not enough slots\n", "not enough slots");
  expect_failure(hosts + figures, "the ranks ended early");
  expect_failure(hosts + "huddle-network: failed no such library\n", "no such library");
}

}  // namespace
}  // namespace huddle::bench::network
