// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Executes every schedule with real data and compares the results bit by bit.
#include "runtime/schedules/execution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "jobs.h"
#include "proofs.h"
#include "runtime/schedules/algorithms.h"
#include "seeded_wires.h"

namespace huddle::schedules::test {
namespace {

class Moving : public ::testing::TestWithParam<Algorithm> {};
class TeamSetUp : public ::testing::TestWithParam<Algorithm> {};

SeededWires seeded(const Job& job, std::minstd_rand& random) {
  return {job.ranks(), static_cast<unsigned>(random())};
}

TEST_P(Moving, MovesRealData) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261124);
  for (int ranks = 1; ranks <= 19; ++ranks) {
    const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
    for (const Call& call : calls_of(algorithm, {.ranks = ranks, .root = root})) {
      const std::int64_t blocks = make_schedule(algorithm, call)->blocks();
      const bool equal = algorithm.operation == Operation::alltoall;
      Job job{algorithm, call, equal ? Sizes::equal(7) : uneven(blocks, 5, random)};
      job.in_place = algorithm.in_place && !has_root(algorithm.operation) && random() % 2 == 0;
      const auto inputs = moving_inputs(job, random);
      SCOPED_TRACE(told(algorithm, call) + (job.in_place ? " in place" : ""));
      expect_moved(job, inputs, outputs_of(job, inputs, seeded(job, random)));
    }
  }
}

// Uses block sizes that only sender and receiver know.
TEST(Alltoallv, MovesRealData) {
  std::minstd_rand random(20261124);
  constexpr int ranks = 9;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.operation != Operation::alltoall || algorithm.equal_blocks) continue;
    const auto schedule = make_schedule(algorithm, {.ranks = ranks});
    std::vector<std::vector<std::size_t>> outgoing(ranks);
    std::vector<std::vector<std::size_t>> incoming(ranks);
    for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
      outgoing[pair / ranks].push_back(random() % 4 * 3);
      incoming[pair % ranks].push_back(outgoing[pair / ranks].back());
    }
    std::vector<Bytes> inputs;
    std::vector<Bytes> outputs;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      inputs.push_back(random_bytes(Sizes::listed(outgoing[rank]).offset(ranks), random));
      outputs.emplace_back(Sizes::listed(incoming[rank]).offset(ranks));
    }
    SeededWires wires(ranks, static_cast<unsigned>(random()));
    std::vector<std::unique_ptr<Execution>> executions;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const CallData data{{inputs[at].data(), Sizes::listed(outgoing[at])},
                          {outputs[at].data(), Sizes::listed(incoming[at])}};
      executions.push_back(
          std::make_unique<Execution>(*schedule, rank, data, memory::Reduction{}, wires.end(rank)));
    }
    wires.run(executions);
    for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
      const std::size_t from = pair / ranks;
      const std::size_t to = pair % ranks;
      EXPECT_EQ(block_of(outputs[to], Sizes::listed(incoming[to]), static_cast<int>(from)),
                block_of(inputs[from], Sizes::listed(outgoing[from]), static_cast<int>(to)))
          << algorithm.full_name() << ", " << from << " to " << to;
    }
  }
}

TEST_P(TeamSetUp, ReducesRealDataInOrder) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261124);
  const memory::Reduction sum = memory::reduction(memory::Type::uint64, memory::Operator::sum);
  for (int ranks = 1; ranks <= 35; ++ranks) {
    const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const std::size_t elements = random() % 50;
    Job job = reduction_job(algorithm, {.ranks = ranks, .root = root}, elements,
                            algorithm.order == Order::free ? sum : bracketed());
    job.in_place = algorithm.in_place && !has_root(algorithm.operation) && ranks % 2 == 0;
    SCOPED_TRACE(told(algorithm, job.call) + (job.in_place ? " in place" : ""));
    const auto inputs = contributions(job, elements, random);
    expect_combined(job, inputs, outputs_of(job, inputs, seeded(job, random)));
  }
}

bool changes_with_order(memory::Type type, memory::Operator op) {
  const memory::TypeKind kind = memory::facts(type).kind;
  const bool rounds = kind == memory::TypeKind::floating || kind == memory::TypeKind::complex;
  return rounds && (op == memory::Operator::sum || op == memory::Operator::product);
}

TEST_P(TeamSetUp, SupportsAllTypesAndOperators) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261124);
  for (const memory::TypeFacts& facts : memory::type_facts) {
    for (int op = 0; op < static_cast<int>(memory::operator_names.size()); ++op) {
      const auto operation = static_cast<memory::Operator>(op);
      if (!memory::is_defined(facts.type, operation)) continue;
      if (algorithm.order == Order::free && changes_with_order(facts.type, operation)) continue;
      // Random bytes are not valid long doubles, and the padding in pairs is undefined.
      if (facts.type == memory::Type::long_double ||
          facts.type == memory::Type::complex_long_double ||
          facts.kind == memory::TypeKind::located) {
        continue;
      }
      if (algorithm.order == Order::free && facts.kind != memory::TypeKind::integer) continue;
      const memory::Reduction reduction = memory::reduction(facts.type, operation);
      const Job job = reduction_job(algorithm, {.ranks = 6, .root = 3}, 11, reduction);
      const auto inputs = contributions(job, 11, random);
      SCOPED_TRACE(std::string(facts.name) + " " + std::string(memory::name(operation)));
      expect_combined(job, inputs, outputs_of(job, inputs, seeded(job, random)));
    }
  }
}

// Sums that depend on rounding, NaN and -0: all algorithms that keep the reduction order return the
// same bits, for any root and any partition of the data.
TEST(Bits, DoNotDependOnTheAlgorithm) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  std::minstd_rand random(20261124);
  constexpr std::size_t elements = 24;
  for (int ranks = 1; ranks <= 64; ++ranks) {
    std::vector<Bytes> inputs;
    for (int rank = 0; rank < ranks; ++rank) {
      float values[elements];
      for (std::size_t i = 0; i < elements; ++i) {
        values[i] = std::ldexp(static_cast<float>(random() % 1000) - 500,
                               static_cast<int>(random() % 40) - 20);
      }
      values[0] = -0.0F;
      values[1] = rank == ranks / 2 ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
      values[2] = rank % 2 == 0 ? std::numeric_limits<float>::infinity() : -1.0F;
      const auto* const bytes = reinterpret_cast<const std::byte*>(values);
      inputs.emplace_back(bytes, bytes + sizeof values);
    }
    for (const Algorithm& algorithm : algorithms()) {
      if (algorithm.order != Order::reduction_order) continue;
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      const Job job = reduction_job(algorithm, {.ranks = ranks, .root = root}, elements, sum);
      SCOPED_TRACE(told(algorithm, job.call));
      expect_combined(job, inputs, outputs_of(job, inputs, seeded(job, random)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Net, Moving, ::testing::ValuesIn(algorithms_that_combine(false)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Net, TeamSetUp, ::testing::ValuesIn(algorithms_that_combine(true)),
                         test_name);

}  // namespace
}  // namespace huddle::schedules::test
