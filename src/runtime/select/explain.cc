// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/select/operation.h"

namespace huddle::select {

Explanation explain(const Request& request, const node::RankLocality& locality,
                    const machine::CostModel& model, const TeamResources& resources) {
  Explanation explanation{
      request, locality.ranks(), machine::calibrated(model.machine()), {}, resources.paths};
  // One choice serves all sizes of a class: it is made for the largest size.
  Request rounded = request;
  rounded.bytes = largest_in(size_class_of(request.bytes));
  explanation.forced = resources.forcing.algorithm_for(rounded);
  const bool moves = request.operation == Operation::barrier || request.bytes > 0 ||
                     has_pairwise_sizes(request.operation);
  if (locality.ranks() > 1 && moves) {
    explanation.candidates = select::candidates(rounded, locality, model, resources);
  }
  return explanation;
}

std::string direct_refusal(const Explanation& explanation) {
  const bool has_some = std::any_of(explanation.paths.begin(), explanation.paths.end(),
                                    [](const PathState& path) { return path.refusal.empty(); });
  return has_some || explanation.paths.empty() ? "" : explanation.paths.front().refusal;
}

std::string because_there_is_none(const Explanation& explanation) {
  if (explanation.ranks == 1) return "nothing to do for a single rank";
  if (explanation.request.bytes == 0) return "nothing to do for zero bytes";
  return "no algorithm can run, because the elements are too large for the team's memory";
}

const Candidate& chosen(const Explanation& explanation) {
  return chosen(explanation.candidates, explanation.forced);
}

std::string forcing_text(const Explanation& explanation) {
  if (explanation.forced.empty() || explanation.candidates.empty()) return {};
  if (algorithm_name(chosen(explanation).plan) == explanation.forced) {
    return fmt::format("{} is forced", explanation.forced);
  }
  return fmt::format(
      "{} was requested but cannot run this call; the algorithm with the shortest predicted time "
      "runs instead",
      explanation.forced);
}

std::vector<Candidate> by_cost(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
  return candidates;
}

namespace {

// No two candidates of an operation have the same name, parameters and time.
bool is_same(const Candidate& a, const Candidate& b) {
  return algorithm_name(a.plan) == algorithm_name(b.plan) && a.parameters == b.parameters &&
         a.ns == b.ns;
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  const Request& request = explanation.request;
  std::string text = std::string(name(request.operation));
  if (request.operation != Operation::barrier) {
    text += " of " + size_text(static_cast<double>(request.bytes));
  }
  text += fmt::format(" on {} rank{}{}\n", explanation.ranks, explanation.ranks == 1 ? "" : "s",
                      explanation.calibrated ? "" : ", uncalibrated machine");
  if (explanation.candidates.empty())
    return text + "  " + because_there_is_none(explanation) + "\n";
  const Candidate& taken = chosen(explanation);
  for (const Candidate& candidate : by_cost(explanation.candidates)) {
    text +=
        fmt::format("{:>2} {:>9}  {:<13}  {}\n", is_same(candidate, taken) ? "->" : "",
                    time_text(candidate.ns), algorithm_name(candidate.plan), candidate.parameters);
  }
  if (const std::string forcing = forcing_text(explanation); !forcing.empty()) {
    text += fmt::format("   {}\n", forcing);
  }
  if (explanation.ranks_force_different_algorithms) {
    text += "   ranks have different requested algorithms: those of rank 0 apply\n";
  }
  for (const PathState& path : explanation.paths) {
    if (path.refusal.empty()) continue;
    text += fmt::format("   without single copy by {}: {}\n", path.name, path.refusal);
  }
  return text;
}

}  // namespace huddle::select
