// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle_choices(): returns the algorithm that a team selected for its latest call, and the
// alternatives, for `huddle bench`.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mpi/back_end/mpi_names.h"
#include "mpi/back_end/process.h"
#include "runtime/select/explain.h"
#include "runtime/team/team.h"

namespace huddle::mpi {
namespace {

using select::Candidate;

// Returns the cheapest candidate of each algorithm, beginning with the forced one if there is any.
std::vector<Candidate> best_of_each(const select::Explanation& explanation) {
  std::vector<Candidate> in_order = by_cost(explanation.candidates);
  std::stable_partition(in_order.begin(), in_order.end(), [&](const Candidate& one) {
    return algorithm_name(one.plan) == explanation.forced;
  });
  std::vector<Candidate> best;
  for (const Candidate& candidate : in_order) {
    const auto same = [&candidate](const Candidate& one) {
      return algorithm_name(one.plan) == algorithm_name(candidate.plan);
    };
    if (std::none_of(best.begin(), best.end(), same)) best.push_back(candidate);
  }
  return best;
}

// Returns the variants of a request, one of which describes the latest call: whether its buffers
// were mapped and whether the root had changed is known only during the call.
std::vector<select::Request> all_that_it_may_have_been(const select::Request& request) {
  std::vector<select::Request> all;
  for (const bool mapped : {false, true}) {
    for (const bool root_moved : {false, true}) {
      select::Request one = request;
      one.mapped = mapped;
      one.root_moved = root_moved;
      all.push_back(one);
    }
  }
  return all;
}

bool ran_first_of(const team::Team& team, const std::vector<Candidate>& candidates) {
  return !candidates.empty() && algorithm_name(candidates.front().plan) == team.latest_algorithm();
}

// Returns the algorithm that the team's latest call ran, and the best candidate of each other
// algorithm, cheapest first, in the format of huddle_choices(). Empty if measured times decided for
// another implementation, whose time is not predicted.
// Requires: a variant of `request` describes the latest call.
std::string choices(const team::Team& team, const select::Request& request) {
  if (team.latest_implementation() != team::Implementation::chosen) return {};
  for (const select::Request& one : all_that_it_may_have_been(request)) {
    const std::vector<Candidate> candidates = best_of_each(team.explain(one));
    if (!ran_first_of(team, candidates)) continue;
    std::string lines;
    for (const Candidate& candidate : candidates) {
      lines += fmt::format("{:.1f} {} {}\n", candidate.ns, algorithm_name(candidate.plan),
                           candidate.parameters);
    }
    return lines;
  }
  return {};
}

}  // namespace
}  // namespace huddle::mpi

HUDDLE_EXPORT std::size_t huddle_choices(const void* communicator, int operation, std::size_t bytes,
                                         std::size_t element_bytes, char* text, std::size_t room) {
  using namespace huddle;
  try {
    const mpi::Comm comm = *static_cast<const mpi::Comm*>(communicator);
    const mpi::Communicator* const known = mpi::process().find(comm);
    if (known == nullptr || known->team == nullptr) return 0;
    const auto number = static_cast<std::size_t>(operation);
    const std::string lines =
        mpi::choices(*known->team, {select::operations.at(number), bytes, element_bytes});
    if (lines.size() > room) return 0;
    return lines.copy(text, room);
  } catch (...) {
    return 0;
  }
}
