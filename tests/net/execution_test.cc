// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Real data through every schedule, and the bits that come out.
#include "net/execution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "net/algorithms.h"
#include "net/association.h"
#include "proofs.h"
#include "seeded_wires.h"

namespace huddle::net {
namespace {

using Bytes = std::vector<std::byte>;

// A call on all ranks: what goes in, and what comes out.
struct Job {
  const Algorithm& algorithm;
  Call call;
  Sizes sizes;  // of blocks
  memory::Reduction reduction = {};
  bool in_place = false;

  int ranks() const { return call.ranks; }
};

bool gives_one(Operation operation) {
  return operation == Operation::allgather || operation == Operation::gather;
}
bool gets_one(Operation operation) {
  return operation == Operation::scatter || operation == Operation::reduce_scatter;
}

// Runs it, and gives everybody's output.
std::vector<Bytes> outputs_of(const Job& job, const std::vector<Bytes>& inputs, unsigned seed) {
  const auto schedule = make_schedule(job.algorithm, job.call);
  const Operation operation = job.algorithm.operation;
  const std::size_t all = job.sizes.offset(schedule->blocks());
  test::SeededWires wires(job.ranks(), seed);
  std::vector<Bytes> outputs(inputs.size());
  std::vector<std::unique_ptr<Execution>> executions;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    Bytes& output = outputs[at];
    output.assign(gets_one(operation) ? job.sizes.bytes(rank) : all, std::byte{0xDD});
    const std::byte* input = inputs[at].data();
    if (operation == Operation::bcast && rank == job.call.root) output = inputs[at];
    if (job.in_place) {
      std::byte* const place = output.data() + (gives_one(operation) ? job.sizes.offset(rank) : 0);
      std::copy(inputs[at].begin(), inputs[at].end(), place);
      input = place;
    }
    executions.push_back(std::make_unique<Execution>(
        *schedule, rank, CallData::of(operation, rank, job.sizes, input, output.data()),
        job.reduction, wires.end(rank)));
  }
  wires.run(executions);
  return outputs;
}

Bytes random_bytes(std::size_t count, std::minstd_rand& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

Bytes block_of(const Bytes& bytes, const Sizes& sizes, std::int64_t block) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(sizes.offset(block));
  return {begin, begin + static_cast<std::ptrdiff_t>(sizes.bytes(block))};
}

std::vector<Algorithm> algorithms_that_join(bool join) {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (reduces(algorithm.operation) == join) found.push_back(algorithm);
  }
  return found;
}

class Moving : public ::testing::TestWithParam<Algorithm> {};
class Joining : public ::testing::TestWithParam<Algorithm> {};

// Blocks of different sizes where all are known, some of them empty.
Sizes uneven(std::int64_t blocks, std::minstd_rand& random) {
  std::vector<std::size_t> bytes;
  for (std::int64_t block = 0; block < blocks; ++block) bytes.push_back(random() % 4 * 5);
  return Sizes::listed(bytes);
}

// What moves blocks and joins nothing.
void expect_moved(const Job& job, const std::vector<Bytes>& inputs,
                  const std::vector<Bytes>& outputs) {
  const Operation operation = job.algorithm.operation;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (operation == Operation::bcast) {
      ASSERT_EQ(outputs[at], inputs[static_cast<std::size_t>(job.call.root)]);
    } else if (operation == Operation::scatter) {
      ASSERT_EQ(outputs[at],
                block_of(inputs[static_cast<std::size_t>(job.call.root)], job.sizes, rank));
    } else if (operation == Operation::allgather ||
               (operation == Operation::gather && rank == job.call.root)) {
      for (int from = 0; from < job.ranks(); ++from) {
        ASSERT_EQ(block_of(outputs[at], job.sizes, from), inputs[static_cast<std::size_t>(from)]);
      }
    } else if (operation == Operation::alltoall) {
      for (int from = 0; from < job.ranks(); ++from) {
        ASSERT_EQ(block_of(outputs[at], job.sizes, from),
                  block_of(inputs[static_cast<std::size_t>(from)], job.sizes, rank));
      }
    }
  }
}

TEST_P(Moving, RealData) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261124);
  for (int ranks = 1; ranks <= 19; ++ranks) {
    const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
    for (const Call& call : calls_of(algorithm, {.ranks = ranks, .root = root})) {
      const std::int64_t blocks = make_schedule(algorithm, call)->blocks();
      const bool equal = algorithm.operation == Operation::alltoall;
      Job job{algorithm, call, equal ? Sizes::equal(7) : uneven(blocks, random)};
      job.in_place = algorithm.in_place && !has_root(algorithm.operation) && random() % 2 == 0;
      std::vector<Bytes> inputs;
      for (int rank = 0; rank < ranks; ++rank) {
        inputs.push_back(random_bytes(
            gives_one(algorithm.operation) ? job.sizes.bytes(rank) : job.sizes.offset(blocks),
            random));
      }
      SCOPED_TRACE(told(algorithm, call) + (job.in_place ? " in place" : ""));
      expect_moved(job, inputs, outputs_of(job, inputs, static_cast<unsigned>(random())));
    }
  }
}

// What the association makes of everybody's data, joined by the same kernels one after the other.
Bytes joined(const memory::Reduction& reduction, const Bytes& left, const Bytes& right) {
  Bytes result(left.size());
  reduction(result.data(), left.data(), right.data(), left.size() / reduction.element_bytes);
  return result;
}
std::vector<Bytes> prefixes(const Job& job, const std::vector<Bytes>& inputs) {
  return associated_prefixes<Bytes>(
      job.ranks(), job.algorithm.operation == Operation::scan, Bytes{},
      [&](int rank) { return inputs[static_cast<std::size_t>(rank)]; },
      [&](const Bytes& left, const Bytes& right) { return joined(job.reduction, left, right); });
}
Bytes whole(const Job& job, const std::vector<Bytes>& inputs) {
  return associated<Bytes>(
      job.ranks(), [&](int rank) { return inputs[static_cast<std::size_t>(rank)]; },
      [&](const Bytes& left, const Bytes& right) { return joined(job.reduction, left, right); });
}

void expect_joined(const Job& job, const std::vector<Bytes>& inputs,
                   const std::vector<Bytes>& outputs) {
  const Operation operation = job.algorithm.operation;
  const bool scans = operation == Operation::scan || operation == Operation::exscan;
  const std::vector<Bytes> expected = scans ? prefixes(job, inputs) : std::vector<Bytes>{};
  const Bytes all = whole(job, inputs);
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (operation == Operation::exscan && rank == 0) continue;
    if (operation == Operation::reduce && rank != job.call.root) continue;
    if (scans) {
      ASSERT_EQ(outputs[at], expected[at]) << "rank " << rank;
    }
    if (operation == Operation::reduce_scatter) {
      ASSERT_EQ(outputs[at], block_of(all, job.sizes, rank)) << "rank " << rank;
    }
    if (operation == Operation::allreduce || operation == Operation::reduce) {
      ASSERT_EQ(outputs[at], all) << "rank " << rank;
    }
  }
}

// Data of a call, of as many elements as are cut into blocks.
std::vector<Bytes> contributions(const Job& job, std::size_t elements, std::minstd_rand& random) {
  std::vector<Bytes> inputs;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    inputs.push_back(random_bytes(elements * job.reduction.element_bytes, random));
  }
  return inputs;
}

// (x, y) -> 3 x + 5 y + 1: of it no two bracketings agree.
memory::Reduction bracketed() {
  const auto combine = [](void* to, const void* left, const void* right, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, static_cast<const std::byte*>(left) + i * sizeof a, sizeof a);
      std::memcpy(&b, static_cast<const std::byte*>(right) + i * sizeof b, sizeof b);
      const std::uint64_t result = 3 * a + 5 * b + 1;
      std::memcpy(static_cast<std::byte*>(to) + i * sizeof result, &result, sizeof result);
    }
  };
  return {combine, nullptr, sizeof(std::uint64_t), false};
}

Job reduction_job(const Algorithm& algorithm, const Call& call, std::size_t elements,
                  const memory::Reduction& reduction) {
  const std::int64_t blocks = make_schedule(algorithm, call)->blocks();
  return {algorithm, call, Sizes::cut(elements, reduction.element_bytes, blocks), reduction};
}

TEST_P(Joining, RealDataInItsOrder) {
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
    expect_joined(job, inputs, outputs_of(job, inputs, static_cast<unsigned>(random())));
  }
}

bool changes_with_order(memory::Type type, memory::Operator op) {
  const memory::TypeKind kind = memory::facts(type).kind;
  const bool rounds = kind == memory::TypeKind::floating || kind == memory::TypeKind::complex;
  return rounds && (op == memory::Operator::sum || op == memory::Operator::product);
}

TEST_P(Joining, AllTypesByAllOperators) {
  const Algorithm& algorithm = GetParam();
  std::minstd_rand random(20261124);
  for (const memory::TypeFacts& facts : memory::type_facts) {
    for (int op = 0; op < static_cast<int>(memory::operator_names.size()); ++op) {
      const auto operation = static_cast<memory::Operator>(op);
      if (!memory::is_defined(facts.type, operation)) continue;
      if (algorithm.order == Order::free && changes_with_order(facts.type, operation)) continue;
      // Bytes by chance are no long doubles, nor what is between the fields of a pair.
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
      expect_joined(job, inputs, outputs_of(job, inputs, static_cast<unsigned>(random())));
    }
  }
}

// Sums that rounding, NaN and -0 would tell apart: all algorithms that keep to the association give
// the same bits, whoever is the root, however the data are cut.
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
      if (algorithm.order != Order::association) continue;
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      const Job job = reduction_job(algorithm, {.ranks = ranks, .root = root}, elements, sum);
      SCOPED_TRACE(told(algorithm, job.call));
      expect_joined(job, inputs, outputs_of(job, inputs, static_cast<unsigned>(random())));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Net, Moving, ::testing::ValuesIn(algorithms_that_join(false)), test_name);
INSTANTIATE_TEST_SUITE_P(Net, Joining, ::testing::ValuesIn(algorithms_that_join(true)), test_name);

}  // namespace
}  // namespace huddle::net
