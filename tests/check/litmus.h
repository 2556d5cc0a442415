// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for tests of the model checker: small jobs whose flags are in separate cache lines.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>

#include "check/checker/checker.h"

namespace huddle::check::checker {

// Prints the trace if a test fails.
inline void PrintTo(const Result& result, std::ostream* out) { *out << text_of(result); }

inline constexpr auto plain = memory::CopyKernel::plain;
inline constexpr auto nontemporal = memory::CopyKernel::nontemporal;

// Returns the n-th cache line of a rank's shared memory.
inline context::Address line(int owner, std::size_t n) {
  return {context::Region::shared, owner, 64 * n};
}
inline context::Address input_of(int rank) { return {context::Region::input, rank, 0}; }
inline context::Address output_of(int rank) { return {context::Region::output, rank, 0}; }

// A job with four zeroed lines of shared memory and eight bytes of input and output per rank.
inline Job litmus(int ranks, std::function<void(CheckedContext&)> body) {
  Job job;
  job.ranks = ranks;
  job.sizes = {.shared = 256, .input = 8, .output = 8, .scratch = 8};
  job.first = 0;
  job.body = std::move(body);
  return job;
}

// Gives the input bytes values that differ as far as possible.
inline void fill_inputs(Memory& memory) {
  for (int rank = 0; rank < memory.ranks(); ++rank) {
    const auto input = memory.bytes(context::Region::input, rank);
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<std::byte>(1 + 37 * static_cast<std::size_t>(rank) + i);
    }
  }
}

// Two values that a rank saw, for litmus tests on values. Stored outside the simulated memory.
struct Seen2 {
  context::Sequence first = 0;
  context::Sequence second = 0;
};

// Returns whether `outcome` holds at the end of some execution.
inline bool can_happen(Job job, const std::function<bool()>& outcome, const Options& options = {}) {
  job.verify = [&](const Memory&) { return outcome() ? "it happened" : ""; };
  const Result result = explore(job, options);
  EXPECT_TRUE(result.exhausted || !result.passed());
  return !result.passed();
}

inline testing::AssertionResult fails_with(const Result& result, const std::string& part) {
  if (result.passed()) return testing::AssertionFailure() << "passed: " << text_of(result);
  if (result.failure->what.find(part) == std::string::npos) {
    return testing::AssertionFailure() << text_of(result);
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult passes(const Result& result) {
  if (!result.passed() || !result.exhausted) return testing::AssertionFailure() << text_of(result);
  return testing::AssertionSuccess();
}

}  // namespace huddle::check::checker
