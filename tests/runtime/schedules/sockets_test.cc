// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Executes every schedule over sockets between threads, with the buffering of a real kernel.
#include <gtest/gtest.h>

#include <random>

#include "jobs.h"
#include "proofs.h"
#include "socket_wires.h"

namespace huddle::schedules::test {
namespace {

constexpr int rank_counts[] = {1, 2, 3, 5, 8, 11};
// Larger than a socket's buffer, so that senders wait for their receivers.
constexpr std::size_t long_bytes = 16384;

class OverSockets : public ::testing::TestWithParam<Algorithm> {};

void expect_moves(const Algorithm& algorithm, const Call& call, std::minstd_rand& random) {
  const std::int64_t blocks = make_schedule(algorithm, call)->blocks();
  const bool equal = algorithm.operation == Operation::alltoall;
  const Job job{algorithm, call,
                equal ? Sizes::equal(long_bytes) : uneven(blocks, long_bytes, random)};
  const auto inputs = moving_inputs(job, random);
  expect_moved(job, inputs, outputs_of(job, inputs, SocketWires(call.ranks)));
}

void expect_joins(const Algorithm& algorithm, const Call& call, std::minstd_rand& random) {
  constexpr std::size_t elements = 4 * long_bytes / sizeof(std::uint64_t);
  const memory::Reduction sum = memory::reduction(memory::Type::uint64, memory::Operator::sum);
  const Job job =
      reduction_job(algorithm, call, elements, algorithm.order == Order::free ? sum : bracketed());
  const auto inputs = contributions(job, elements, random);
  expect_combined(job, inputs, outputs_of(job, inputs, SocketWires(call.ranks)));
}

TEST_P(OverSockets, MovesAndReducesRealData) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261125);
  for (const int ranks : rank_counts) {
    const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
    for (const Call& call : calls_of(algorithm, {.ranks = ranks, .root = root})) {
      SCOPED_TRACE(told(algorithm, call));
      if (reduces(algorithm.operation)) {
        expect_joins(algorithm, call, random);
      } else {
        expect_moves(algorithm, call, random);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Net, OverSockets,
                         ::testing::ValuesIn(algorithms().begin(), algorithms().end()), test_name);

// A schedule whose receiver expects one block more than is sent.
class OneTooFew : public Schedule {
 public:
  using Schedule::Schedule;
  std::int64_t blocks() const override { return 1; }
  std::int64_t rounds() const override { return 1; }
  RankTraffic traffic(int) const override { return {}; }

 protected:
  void fill(int rank, std::int64_t, Round& round) const override {
    if (rank == 1) round.receive(0, Buffer::output, Blocks::interval(0, 2));
    if (rank == 0) round.send(1, Buffer::output, Blocks::interval(0, 1));
  }
};

TEST(SocketWires, FailIfSizesDiffer) {
  const OneTooFew schedule({.ranks = 2});
  SocketWires wires(2);
  std::vector<Bytes> outputs(2, Bytes(2));
  std::vector<std::unique_ptr<Execution>> executions;
  for (int rank = 0; rank < 2; ++rank) {
    executions.push_back(
        std::make_unique<Execution>(schedule, rank,
                                    CallData::of(Operation::bcast, rank, Sizes::equal(1), nullptr,
                                                 outputs[static_cast<std::size_t>(rank)].data()),
                                    memory::Reduction{}, wires.end(rank)));
  }
  EXPECT_THROW(wires.run(executions), std::runtime_error);
}

}  // namespace
}  // namespace huddle::schedules::test
