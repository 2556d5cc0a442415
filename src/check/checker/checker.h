// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All that a test of a protocol needs: CheckedContext for the protocol, Job, explore() and
// sample().
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

// Runs a job in many orders and looks for one that fails.

// Every order within the budget, the simplest first: for a few ranks and a few operations.
Result explore(const Job& job, const Options& options = {});

// Orders by chance, for any number of ranks. Nothing but the seed decides which.
Result sample(const Job& job, std::uint64_t seed, std::size_t runs, const Options& options = {});

// The one order that a failure names by its `choices`. pre: the same job and the same options.
Result replay(const Job& job, std::string_view choices, const Options& options = {});

// Plants every error that can be planted into a protocol, one after another, and tells which of
// them the checker does not find.

// Every fault that makes sense at every call that the job makes, in some order of it.
std::vector<Mutation> mutations_of(const Job& job);

// A mutation that changes nothing that matters, and why. It is named by what stands in its line of
// the source, which stays when lines move.
struct Excuse {
  Fault fault = Fault::dropped;
  std::string line_part;
  std::string reason;
};

struct SurveyOptions {
  // Of each try; its mutation is set by the survey. Few executions: errors are found early.
  Options options{.max_executions = 5'000};
  std::uint64_t seed = 1;
  std::size_t samples = 2'000;
  std::vector<Excuse> excuses;
  // Only errors in files with this in their path: the rest of a job is not what is judged.
  std::string in_files;
};

struct Survey {
  std::vector<Mutation> caught;
  std::vector<Mutation> survived;
  std::vector<Mutation> excused;
  // Excuses that no mutation needed.
  std::vector<Excuse> idle_excuses;

  bool passed() const { return survived.empty() && idle_excuses.empty(); }
};

// A mutation is caught when one of the jobs fails with it, explored or sampled. pre: every job
// passes as it is.
Survey survey(std::span<const Job> jobs, const SurveyOptions& options = {});

std::string text_of(const Survey& survey);

}  // namespace huddle::check::checker
