// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/team_calls.h"

#include <fmt/format.h>

namespace huddle::bench {
namespace {

using select::Operation;

constexpr std::uint64_t added_each_time = 0x9E3779B97F4A7C15;

}  // namespace

std::string chosen(const RankContext& here, const select::Request& request) {
  const select::Explanation explanation = here.team->explain(request);
  if (explanation.candidates.empty()) return "alone";
  const select::Candidate& best = select::chosen(explanation);
  return fmt::format("{}: {}", select::algorithm_name(best.plan), best.parameters);
}

std::string TeamBarrier::how(const RankContext& here) const {
  return plan_ ? std::string() : chosen(here, {.operation = Operation::barrier});
}

void RotatingBcast::run(const RankContext& here, int calls) {
  for (int call = 0; call < calls; ++call) {
    const int root = static_cast<int>(calls_++ % static_cast<std::uint64_t>(here.ranks));
    if (here.rank == root) value_ += added_each_time;
    here.team->bcast(&value_, sizeof value_, root);
  }
}

bool RotatingBcast::is_right(const RankContext&) { return value_ == calls_ * added_each_time; }

std::string RotatingBcast::how(const RankContext& here) {
  return chosen(here, {.operation = Operation::bcast, .bytes = sizeof value_});
}

}  // namespace huddle::bench
