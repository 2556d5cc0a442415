// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Interface of the model checker for tests of protocols: explore(), sample() and replay() run a Job
// in many interleavings and report one that fails; survey() plants errors to test the checker
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/checker/checked_context.h"
#include "check/checker/job.h"
#include "check/checker/memory.h"

namespace huddle::check::checker {

// Tries every interleaving within the budget, those with few preemptions first. For few ranks and
// few operations.
Result explore(const Job& job, const Options& options = {});

// Tries `runs` random interleavings, for any number of ranks. The seed alone determines them.
Result sample(const Job& job, std::uint64_t seed, std::size_t runs, const Options& options = {});

// Repeats the interleaving given by the `choices` of a failure.
// Requires: the same job and the same options.
Result replay(const Job& job, std::string_view choices, const Options& options = {});

// Returns all mutations of a job: each fault that applies to each call site. Finds the call sites
// by random executions.
std::vector<Mutation> mutations_of(const Job& job);

// A mutation that survives because it has no relevant effect, with the reason. It is identified by
// a part of its source line instead of a line number, which changes often.
struct Excuse {
  Fault fault = Fault::dropped;
  std::string line_part;
  std::string reason;
};

struct SurveyOptions {
  // Options of each run, except for the mutation. Few executions suffice, because most errors are
  // found early.
  Options options{.max_executions = 5'000};
  std::uint64_t seed = 1;
  std::size_t samples = 2'000;
  std::vector<Excuse> excuses;
  // Limits the survey to files whose path contains this text; the rest of a job is not under test.
  std::string in_files;
};

struct Survey {
  std::vector<Mutation> caught;
  std::vector<Mutation> survived;
  std::vector<Mutation> excused;
  // excuses that no mutation needed
  std::vector<Excuse> idle_excuses;

  bool passed() const { return survived.empty() && idle_excuses.empty(); }
};

// Plants every possible error into the jobs' protocol, one at a time, and reports those that the
// checker does not find. A mutation is caught if one of the jobs fails with it, explored or
// sampled.
// Requires: every job passes without mutation.
Survey survey(std::span<const Job> jobs, const SurveyOptions& options = {});

std::string text_of(const Survey& survey);

}  // namespace huddle::check::checker
