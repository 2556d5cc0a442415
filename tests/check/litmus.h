// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the tests of the checker have in common: small jobs over flags a line apart.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>

#include "check/checker/checker.h"

namespace huddle::check::checker {

// So that a test that fails prints the trace.
inline void PrintTo(const Result& result, std::ostream* out) { *out << text_of(result); }

inline constexpr auto plain = memory::CopyKernel::plain;
inline constexpr auto nontemporal = memory::CopyKernel::nontemporal;

// The n-th line of a rank's shared memory.
inline context::Address line(int owner, std::size_t n) {
  return {context::Region::shared, owner, 64 * n};
}
inline context::Address input_of(int rank) { return {context::Region::input, rank, 0}; }
inline context::Address output_of(int rank) { return {context::Region::output, rank, 0}; }

// Four lines of shared memory a rank, zeroed, and eight bytes of input and output.
inline Job litmus(int ranks, std::function<void(CheckedContext&)> body) {
  Job job;
  job.ranks = ranks;
  job.sizes = {.shared = 256, .input = 8, .output = 8, .scratch = 8};
  job.first = 0;
  job.body = std::move(body);
  return job;
}

// Every byte of every rank's input another, as far as bytes go.
inline void fill_inputs(Memory& memory) {
  for (int rank = 0; rank < memory.ranks(); ++rank) {
    const auto input = memory.bytes(context::Region::input, rank);
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<std::byte>(1 + 37 * static_cast<std::size_t>(rank) + i);
    }
  }
}

// What the ranks saw, for litmus tests about values: kept apart from the world's memory.
struct Seen2 {
  context::Sequence first = 0;
  context::Sequence second = 0;
};

// Whether some execution ends with what `outcome` looks for.
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
