// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests every implementation; run_comparison() throws if a result is wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/node/bcast_protocols.h"
#include "this_machine.h"
#include "tools/bench/engine/bare.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/protocol_alone.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

Result hold_one(std::unique_ptr<Implementation> implementation, int ranks, std::size_t bytes,
                int calls) {
  Comparison comparison{.name = "trial",
                        .binding = {ranks, test_pus()},
                        .bytes = bytes,
                        .entries = {},
                        .judgements = {}};
  comparison.entries.push_back(
      {.name = "it", .implementation = std::move(implementation), .calls = calls, .stretches = 3});
  return hold_quietly(comparison, 2);
}

// Returns the length of a series, which is short if two spinning ranks share a core.
int series() { return test_pus().size() >= 2 ? 100 : 2; }

TEST(Implementations, BareFlagsOfTwoRanksWork) {
  EXPECT_EQ(hold_one(barrier_implementation(2, OneLineExchange()), 2, 0, series()).rounds, 2);
  EXPECT_EQ(hold_one(barrier_implementation(2, TwoLineExchange()), 2, 0, series()).rounds, 2);
  EXPECT_EQ(hold_one(std::make_unique<PingPong>(), 2, 0, series()).rounds, 2);
}

TEST(Implementations, YieldingBarriersOfManyRanksWork) {
  for (const int ranks : {1, 2, 5, 8}) {
    EXPECT_EQ(hold_one(barrier_implementation(ranks, YieldingCounter()), ranks, 0, 10).rounds, 2);
    EXPECT_EQ(hold_one(barrier_implementation(ranks, YieldingFlags(ranks)), ranks, 0, 10).rounds,
              2);
  }
}

TEST(Implementations, RingsWorkWithEveryKernelAndManySizes) {
  for (memory::CopyMethod method : memory::to_one_reader) {
    for (const std::size_t bytes : {8U, 16384U, 16392U, 600000U}) {
      EXPECT_EQ(hold_one(std::make_unique<BareRing>(method), 2, bytes, 1).rounds, 2);
    }
  }
}

TEST(Implementations, CallsOfATeamWork) {
  for (const int ranks : {1, 2, 3}) {
    EXPECT_EQ(hold_one(std::make_unique<RotatingBcast>(), ranks, 0, 7).rounds, 2);
    EXPECT_EQ(hold_one(barrier_implementation(ranks, TeamBarrier()), ranks, 0, 7).rounds, 2);
  }
}

// One call with large buffers, and a series of small calls with separate buffers.
TEST(Implementations, OperationsOfATeamWork) {
  using select::Operation;
  for (const Operation operation : select::operations) {
    if (operation == Operation::barrier || regular_form(operation) != operation) continue;
    for (const int ranks : {1, 2, 3}) {
      for (const Calls& calls : {Calls{operation, 40000, 1}, Calls{operation, 8, 7}}) {
        SCOPED_TRACE(fmt::format("{} of {} on {}", name(operation), calls.bytes, ranks));
        const Result result = hold_one(std::make_unique<TeamOperation>(calls), ranks,
                                       calls.buffer_bytes(ranks), calls.in_a_stretch);
        EXPECT_EQ(result.rounds, 2);
      }
    }
  }
}

// Returns the predicted choice of a team of two, which depends on the number of cores here.
std::string forecast_of_two(const select::Request& request) {
  const machine::Machine machine = test_machine();
  const Forecast forecast(machine, {2, test_pus()});
  return std::string(select::algorithm_name(select::cheapest(forecast.candidates(request)).plan));
}

TEST(Implementations, DescribeTheTeamsChoice) {
  const Calls bcast{select::Operation::bcast, 8};
  EXPECT_THAT(hold_one(std::make_unique<TeamOperation>(bcast), 2, 8, 1).entries[0].how,
              testing::StartsWith(forecast_of_two(request_of(bcast, 2)) + ": "));
  EXPECT_THAT(
      hold_one(barrier_implementation(2, TeamBarrier()), 2, 0, 1).entries[0].how,
      testing::StartsWith(forecast_of_two({.operation = select::Operation::barrier}) + ": "));
}

TEST(Implementations, SingleProtocolWorksWithOneBuffer) {
  for (const int ranks : {2, 4}) {
    const node::PipelinedBcast::Parameters one_buffer{{{}}, node::page_bytes, 2, 1};
    const node::PipelinedBcast::Plan plan{0, 2, memory::CopyKernel::plain};
    auto implementation = std::make_unique<ProtocolBcast<node::PipelinedBcast>>(
        node::unknown_locality(ranks), true, one_buffer, plan);
    EXPECT_EQ(hold_one(std::move(implementation), ranks, 100000, 1).rounds, 2);
  }
}

}  // namespace
}  // namespace huddle::bench
