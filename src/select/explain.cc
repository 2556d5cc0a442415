// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "select/size_class.h"

namespace huddle::select {

Explanation explain(const Request& request, const node::Seats& seats,
                    const machine::CostModel& model, const Provision& provision) {
  Explanation explanation{
      request, seats.ranks(), machine::calibrated(model.machine()), {}, provision.direct_refusal};
  // One choice serves all sizes of a class: it is made for the largest of them.
  Request rounded = request;
  rounded.bytes = largest_in(size_class_of(request.bytes));
  const bool moves = request.operation == Operation::barrier || request.bytes > 0 ||
                     is_known_to_pairs_only(request.operation);
  if (seats.ranks() > 1 && moves) {
    explanation.candidates = select::candidates(rounded, seats, model, provision);
  }
  return explanation;
}

std::string because_there_is_none(const Explanation& explanation) {
  if (explanation.ranks == 1) return "nothing to do, a rank is alone";
  if (explanation.request.bytes == 0) return "nothing to do, no bytes move";
  return "nothing can run, the elements are too large for the team's memory";
}

std::vector<Candidate> by_cost(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
  return candidates;
}

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
  const char* mark = "->";
  for (const Candidate& candidate : by_cost(explanation.candidates)) {
    text += fmt::format("{:>2} {:>9}  {:<13}  {}\n", mark, time_text(candidate.ns),
                        algorithm_name(candidate.plan), candidate.parameters);
    mark = "";
  }
  if (!explanation.direct_refusal.empty()) {
    text += fmt::format("   without single copy: {}\n", explanation.direct_refusal);
  }
  return text;
}

}  // namespace huddle::select
