// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/repeated_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "runtime/memory/reduction.h"

namespace huddle::mpi {
namespace {

using select::Operation;

// Buffers of a gather of one byte by four ranks.
constexpr std::size_t span = 4;
struct Buffers {
  std::array<std::byte, 64> input{};
  std::array<std::byte, 64> output{};
};

RepeatableArguments gather(const void* input, const void* output, int root = 0) {
  return repeatable(Operation::gather, input, output, 1, 7, 1, 7, root);
}

RepeatedCalls::Known known_gather(const void* input, void* output) {
  return {.tuned = {Operation::gather, 1, true},
          .call = {.operation = Operation::gather, .input = input, .output = output, .count = 1}};
}

// Notes the call as a communicator does after it has seen the call twice.
void note(RepeatedCalls& calls, const RepeatableArguments& arguments,
          const RepeatedCalls::Known& known) {
  calls.is_repeated(arguments, 0);
  ASSERT_TRUE(calls.is_repeated(arguments, 0));
  calls.note(arguments, span, known);
}

TEST(RepeatedCalls, AreKnownFromTheSecondCallOn) {
  RepeatedCalls calls;
  Buffers own;
  const auto arguments = gather(own.input.data(), own.output.data());
  EXPECT_EQ(calls.find(arguments, 0), nullptr);
  EXPECT_FALSE(calls.is_repeated(arguments, 0));
  EXPECT_EQ(calls.find(arguments, 0), nullptr);
  EXPECT_TRUE(calls.is_repeated(arguments, 0));
  calls.note(arguments, span, known_gather(own.input.data(), own.output.data()));
  ASSERT_NE(calls.find(arguments, 0), nullptr);
  EXPECT_EQ(calls.find(arguments, 0)->call.count, 1U);
}

TEST(RepeatedCalls, UseTheBuffersOfEachCall) {
  RepeatedCalls calls;
  Buffers first;
  Buffers second;
  note(calls, gather(first.input.data(), first.output.data()),
       known_gather(first.input.data(), first.output.data()));
  const auto* const known = calls.find(gather(second.input.data(), second.output.data()), 0);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->call.input, second.input.data());
  EXPECT_EQ(known->call.output, second.output.data());
}

// In place, the input is this rank's block of the output.
TEST(RepeatedCalls, UseTheOwnBlockOfEachCallInPlace) {
  RepeatedCalls calls;
  Buffers first;
  Buffers second;
  constexpr std::size_t own_block = 2;
  note(calls, gather(in_place(), first.output.data()),
       known_gather(&first.output[own_block], first.output.data()));
  const auto* const known = calls.find(gather(in_place(), second.output.data()), 0);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->call.input, &second.output[own_block]);
  EXPECT_EQ(known->call.output, second.output.data());
}

// On ranks other than the root, the output argument is not significant.
TEST(RepeatedCalls, IgnoreABufferThatTheCallDoesNotUse) {
  RepeatedCalls calls;
  Buffers own;
  note(calls, gather(own.input.data(), own.output.data(), 1),
       known_gather(own.input.data(), nullptr));
  const auto* const known = calls.find(gather(&own.input[8], own.output.data(), 1), 0);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->call.input, &own.input[8]);
  EXPECT_EQ(known->call.output, nullptr);
}

// Some overlaps are errors, and others mean that the call is in place.
TEST(RepeatedCalls, AreUnknownIfBuffersOverlap) {
  RepeatedCalls calls;
  Buffers own;
  note(calls, gather(own.input.data(), own.output.data()),
       known_gather(own.input.data(), own.output.data()));
  for (std::size_t apart = 0; apart < span; ++apart) {
    EXPECT_EQ(calls.find(gather(&own.output[apart], own.output.data()), 0), nullptr) << apart;
    EXPECT_EQ(calls.find(gather(own.output.data(), &own.output[apart]), 0), nullptr) << apart;
  }
  EXPECT_NE(calls.find(gather(&own.output[span], own.output.data()), 0), nullptr);
}

TEST(RepeatedCalls, AreUnknownIfAnyOtherArgumentDiffers) {
  RepeatedCalls calls;
  Buffers own;
  const void* const in = own.input.data();
  void* const out = own.output.data();
  note(calls, gather(in, out), known_gather(in, out));
  EXPECT_EQ(calls.find(gather(in, out, 1), 0), nullptr);
  EXPECT_EQ(calls.find(gather(in_place(), out), 0), nullptr);
  EXPECT_EQ(calls.find(gather(in, nullptr), 0), nullptr);
  EXPECT_EQ(calls.find(repeatable(Operation::gather, in, out, 2, 7, 1, 7, 0), 0), nullptr);
  EXPECT_EQ(calls.find(repeatable(Operation::gather, in, out, 1, 8, 1, 7, 0), 0), nullptr);
  EXPECT_EQ(calls.find(repeatable(Operation::gather, in, out, 1, 7, 2, 7, 0), 0), nullptr);
  EXPECT_EQ(calls.find(repeatable(Operation::gather, in, out, 1, 7, 1, 8, 0), 0), nullptr);
  EXPECT_EQ(calls.find(repeatable(Operation::scatter, in, out, 1, 7, 1, 7, 0), 0), nullptr);
}

TEST(RepeatedCalls, AreUnknownAfterADatatypeWasFreed) {
  RepeatedCalls calls;
  Buffers own;
  const auto arguments = gather(own.input.data(), own.output.data());
  note(calls, arguments, known_gather(own.input.data(), own.output.data()));
  EXPECT_EQ(calls.find(arguments, 1), nullptr);
  // A program that frees a datatype between all calls gains nothing from noting them.
  EXPECT_FALSE(calls.is_repeated(arguments, 1));
  EXPECT_EQ(calls.find(arguments, 1), nullptr);
  EXPECT_TRUE(calls.is_repeated(arguments, 1));
}

TEST(RepeatedCalls, OwnTheirReductions) {
  RepeatedCalls calls;
  Buffers own;
  memory::Reduction reduction = memory::reduction(memory::Type::float64, memory::Operator::sum);
  const auto combine = reduction.combine;
  const auto arguments =
      repeatable(Operation::allreduce, own.input.data(), own.output.data(), 1, 7, 3);
  note(calls, arguments,
       {.tuned = {Operation::allreduce, 8, true},
        .call = {Operation::allreduce, own.input.data(), own.output.data(), 1, &reduction}});
  reduction = {};
  ASSERT_NE(calls.find(arguments, 0), nullptr);
  EXPECT_EQ(calls.find(arguments, 0)->call.reduction->combine, combine);
}

}  // namespace
}  // namespace huddle::mpi
