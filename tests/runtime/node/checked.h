// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Protocols as jobs for the model checker: consecutive calls with different data and results.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "check/checker/checker.h"
#include "runtime/node/lines.h"

namespace huddle::check::checker {

inline void PrintTo(const Result& result, std::ostream* out) { *out << text_of(result); }
inline void PrintTo(const Survey& survey, std::ostream* out) { *out << text_of(survey); }

}  // namespace huddle::check::checker

namespace huddle::node::test {

using check::checker::CheckedContext;
using check::checker::Excuse;
using check::checker::Fault;
using check::checker::Job;
using check::checker::just_below_wrap;

using Bytes = std::vector<std::byte>;

// Input of a rank in a call, and its expected output; {} if nothing is expected.
struct Script {
  std::size_t calls = 1;
  std::size_t window_bytes = 8;  // size of the caller's buffers, sufficient for each call
  std::function<Bytes(int rank, std::size_t call)> given;
  std::function<Bytes(int rank, std::size_t call)> wanted;
};

// Protocols use the beginning of input and output; data is copied there before each call and saved
// after it.
inline void bring(CheckedContext& ctx, const Script& script, std::size_t call) {
  ctx.copy({Region::input, ctx.rank(), 0},
           {Region::input, ctx.rank(), (1 + call) * script.window_bytes}, script.window_bytes,
           memory::CopyKernel::plain);
}
inline void put_aside(CheckedContext& ctx, const Script& script, std::size_t call) {
  ctx.copy({Region::output, ctx.rank(), (1 + call) * script.window_bytes},
           {Region::output, ctx.rank(), 0}, script.window_bytes, memory::CopyKernel::plain);
}

inline void place(std::span<std::byte> all, std::size_t at, const Bytes& part) {
  std::copy(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
}

inline std::string difference(const check::checker::Memory& memory, const Script& script) {
  for (int rank = 0; rank < memory.ranks(); ++rank) {
    const auto output = memory.bytes(Region::output, rank);
    for (std::size_t call = 0; call < script.calls; ++call) {
      const Bytes wanted = script.wanted(rank, call);
      const auto got = output.subspan((1 + call) * script.window_bytes);
      if (!std::equal(wanted.begin(), wanted.end(), got.begin())) {
        return "call " + std::to_string(call) + ": rank " + std::to_string(rank) +
               " has something else";
      }
    }
  }
  return {};
}

// make(rank) creates a rank's protocol; run(protocol, context, call) performs one call.
template <class Make, class Run>
Job job_of(int ranks, const Script& script, Make make, Run run) {
  Job job;
  job.ranks = ranks;
  job.sizes.shared = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    job.sizes.shared =
        std::max(job.sizes.shared, round_up(make(rank).shared_bytes(), false_sharing_bytes));
  }
  job.sizes.input = job.sizes.output = (1 + script.calls) * script.window_bytes;
  // Sufficient for two results of a reduction, even if slots are rounded up.
  job.sizes.scratch = 2 * (script.window_bytes + false_sharing_bytes);
  job.prepare = [script](check::checker::Memory& memory) {
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      for (std::size_t call = 0; call < script.calls; ++call) {
        place(memory.bytes(Region::input, rank), (1 + call) * script.window_bytes,
              script.given(rank, call));
      }
    }
  };
  job.body = [script, make, run](CheckedContext& ctx) {
    auto protocol = make(ctx.rank());
    for (std::size_t call = 0; call < script.calls; ++call) {
      bring(ctx, script, call);
      run(protocol, ctx, call);
      put_aside(ctx, script, call);
    }
  };
  job.verify = [script](const check::checker::Memory& memory) {
    return difference(memory, script);
  };
  return job;
}

// Returns the maximum number of executions per job. The default takes seconds for all tests
// together; `make test-all` sets more.
inline std::size_t most_executions() {
  constexpr std::size_t usual = 10'000;
  const char* asked = std::getenv("HUDDLE_CHECKED_EXECUTIONS");
  return asked == nullptr ? usual : static_cast<std::size_t>(std::strtoull(asked, nullptr, 10));
}

// Explores every order within the budget, the simplest first, and samples some random ones.
inline testing::AssertionResult passes(const Job& job) {
  check::checker::Options options;
  options.max_executions = most_executions();
  const auto result = explore(job, options);
  if (!result.passed()) return testing::AssertionFailure() << text_of(result);
  const auto sampled = sample(job, 1, 300);
  if (!sampled.passed()) return testing::AssertionFailure() << text_of(sampled);
  std::cout << job.ranks << " ranks: " << text_of(result) << "\n";
  return testing::AssertionSuccess();
}

// Faults of PublishedRounds that cannot change a result.
inline const Excuse seen_too_low{
    Fault::too_early, "until_reached(number))",
    "a line's flag goes up by all lines at once: one less comes no earlier"};

inline const Excuse set_too_high{
    Fault::one_more, "ctx.store_stamped(line_of(",
    "a line's flag goes up by all lines at once: one more stays below"};

// For channels whose counters advance by two.
inline Excuse too_early_by_half(const std::string& line_part) {
  return {Fault::too_early, line_part, "no number lies between the one before and that one"};
}
// For a wait that only selects the next peer.
inline Excuse only_a_hint(Fault fault) {
  return {fault, "ctx.wait_any(awaited_", "whoever has the turn is waited for"};
}
inline const Excuse done_too_low{
    Fault::one_less, "ctx.store(of(ctx.rank()), value)",
    "whoever fills waits for one call more than it has to, and that one comes"};

// Checks that every error that can be planted into the protocol's source is found by one of the
// jobs.
inline testing::AssertionResult bites(const std::vector<Job>& jobs,
                                      const std::vector<Excuse>& excuses = {},
                                      const std::string& in_files = "src/runtime/node/") {
  check::checker::SurveyOptions options;
  options.excuses = excuses;
  options.in_files = in_files;
  const auto survey = check::checker::survey(jobs, options);
  std::cout << text_of(survey);
  if (!survey.passed()) return testing::AssertionFailure() << text_of(survey);
  return testing::AssertionSuccess();
}

}  // namespace huddle::node::test
