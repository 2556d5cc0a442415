// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls on all ranks with real data, and their expected results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/execution.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::schedules::test {

using Bytes = std::vector<std::byte>;

// A call on all ranks.
struct Job {
  const Algorithm& algorithm;
  Call call;
  Sizes sizes;  // of blocks
  memory::Reduction reduction = {};
  bool in_place = false;

  int ranks() const { return call.ranks; }
};

inline bool gives_one(Operation operation) {
  return operation == Operation::allgather || operation == Operation::gather;
}
inline bool gets_one(Operation operation) {
  return operation == Operation::scatter || operation == Operation::reduce_scatter;
}

// Runs a job over `wires` and returns the output of every rank.
template <typename Wires>
std::vector<Bytes> outputs_of(const Job& job, const std::vector<Bytes>& inputs, Wires&& wires) {
  const auto schedule = make_schedule(job.algorithm, job.call);
  const Operation operation = job.algorithm.operation;
  const std::size_t all = job.sizes.offset(schedule->blocks());
  const auto first_own = [&](int rank) { return schedule->own_blocks(rank).first; };
  std::vector<Bytes> outputs(inputs.size());
  std::vector<std::unique_ptr<Execution>> executions;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    Bytes& output = outputs[at];
    output.assign(gets_one(operation) ? job.sizes.bytes(rank) : all, std::byte{0xDD});
    const std::byte* input = inputs[at].data();
    if (operation == Operation::bcast && rank == job.call.root) output = inputs[at];
    if (job.in_place) {
      std::byte* const place =
          output.data() + (gives_one(operation) ? job.sizes.offset(first_own(rank)) : 0);
      std::copy(inputs[at].begin(), inputs[at].end(), place);
      input = place;
    }
    executions.push_back(std::make_unique<Execution>(
        *schedule, rank, CallData::of(operation, first_own(rank), job.sizes, input, output.data()),
        job.reduction, wires.end(rank)));
  }
  wires.run(executions);
  return outputs;
}

inline Bytes random_bytes(std::size_t count, std::minstd_rand& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline Bytes blocks_of(const Bytes& bytes, const Sizes& sizes, const BlockSpan& span) {
  const auto at = [&](std::int64_t block) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(sizes.offset(block));
  };
  return {at(span.first), at(span.first + span.count)};
}
inline Bytes block_of(const Bytes& bytes, const Sizes& sizes, std::int64_t block) {
  return blocks_of(bytes, sizes, {block, 1});
}

inline std::vector<Algorithm> algorithms_that_combine(bool combine) {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (reduces(algorithm.operation) == combine) found.push_back(algorithm);
  }
  return found;
}

// Returns blocks of four different sizes, some of them empty. All ranks know the sizes.
inline Sizes uneven(std::int64_t blocks, std::size_t unit, std::minstd_rand& random) {
  std::vector<std::size_t> bytes;
  for (std::int64_t block = 0; block < blocks; ++block) bytes.push_back(random() % 4 * unit);
  return Sizes::listed(bytes);
}

// Returns the inputs of all ranks for a call that does not reduce.
inline std::vector<Bytes> moving_inputs(const Job& job, std::minstd_rand& random) {
  const auto schedule = make_schedule(job.algorithm, job.call);
  std::vector<Bytes> inputs;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const BlockSpan all = {0, schedule->blocks()};
    const BlockSpan given = gives_one(job.algorithm.operation) ? schedule->own_blocks(rank) : all;
    inputs.push_back(random_bytes(
        job.sizes.offset(given.first + given.count) - job.sizes.offset(given.first), random));
  }
  return inputs;
}

// Checks the outputs of a call that moves blocks without reducing.
inline void expect_moved(const Job& job, const std::vector<Bytes>& inputs,
                         const std::vector<Bytes>& outputs) {
  const Operation operation = job.algorithm.operation;
  const auto schedule = make_schedule(job.algorithm, job.call);
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
        ASSERT_EQ(blocks_of(outputs[at], job.sizes, schedule->own_blocks(from)),
                  inputs[static_cast<std::size_t>(from)]);
      }
    } else if (operation == Operation::alltoall) {
      for (int from = 0; from < job.ranks(); ++from) {
        ASSERT_EQ(block_of(outputs[at], job.sizes, from),
                  block_of(inputs[static_cast<std::size_t>(from)], job.sizes, rank));
      }
    }
  }
}

// Expected reductions: the reduction order, computed sequentially with the same kernels.
inline Bytes combined(const memory::Reduction& reduction, const Bytes& left, const Bytes& right) {
  Bytes result(left.size());
  reduction(result.data(), left.data(), right.data(), left.size() / reduction.element_bytes);
  return result;
}
inline std::vector<Bytes> prefixes(const Job& job, const std::vector<Bytes>& inputs) {
  return associated_prefixes<Bytes>(
      job.ranks(), job.algorithm.operation == Operation::scan, Bytes{},
      [&](int rank) { return inputs[static_cast<std::size_t>(rank)]; },
      [&](const Bytes& left, const Bytes& right) { return combined(job.reduction, left, right); });
}
inline Bytes whole(const Job& job, const std::vector<Bytes>& inputs) {
  return associated<Bytes>(
      job.ranks(), [&](int rank) { return inputs[static_cast<std::size_t>(rank)]; },
      [&](const Bytes& left, const Bytes& right) { return combined(job.reduction, left, right); });
}

inline void expect_combined(const Job& job, const std::vector<Bytes>& inputs,
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

// Returns random inputs of `elements` elements per rank.
inline std::vector<Bytes> contributions(const Job& job, std::size_t elements,
                                        std::minstd_rand& random) {
  std::vector<Bytes> inputs;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    inputs.push_back(random_bytes(elements * job.reduction.element_bytes, random));
  }
  return inputs;
}

// (x, y) -> 3 x + 5 y + 1: the result depends on every pair of parentheses.
inline memory::Reduction bracketed() {
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

inline Job reduction_job(const Algorithm& algorithm, const Call& call, std::size_t elements,
                         const memory::Reduction& reduction) {
  const std::int64_t blocks = make_schedule(algorithm, call)->blocks();
  return {algorithm, call, Sizes::cut(elements, reduction.element_bytes, blocks), reduction};
}

}  // namespace huddle::schedules::test
