// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "contest/team_calls.h"

#include <fmt/format.h>

#include "contest/payload.h"

namespace huddle::contest {
namespace {

using select::Operation;

constexpr std::uint64_t added_each_time = 0x9E3779B97F4A7C15;

std::string chosen(const Here& here, const select::Request& request) {
  const select::Explanation explanation = here.team->explain(request);
  if (explanation.candidates.empty()) return "alone";
  const select::Candidate& best = select::cheapest(explanation.candidates);
  return fmt::format("{}: {}", select::algorithm_name(best.plan), best.parameters);
}

}  // namespace

std::string TeamBarrier::how(const Here& here) const {
  return plan_ ? std::string() : chosen(here, {.operation = Operation::barrier});
}

void RotatingBcast::run(const Here& here, int calls) {
  for (int call = 0; call < calls; ++call) {
    const int root = static_cast<int>(calls_++ % static_cast<std::uint64_t>(here.ranks));
    if (here.rank == root) value_ += added_each_time;
    here.team->bcast(&value_, sizeof value_, root);
  }
}

bool RotatingBcast::is_right(const Here&) { return value_ == calls_ * added_each_time; }

std::string RotatingBcast::how(const Here& here) {
  return chosen(here, {.operation = Operation::bcast, .bytes = sizeof value_});
}

void TeamBcast::prepare(const Here& here) {
  if (here.rank == 0) fill_words(here.source, here.stamp);
}

void TeamBcast::run(const Here& here, int calls) {
  const auto buffer = here.rank == 0 ? here.source : here.target;
  for (int call = 0; call < calls; ++call) {
    if (plan_) {
      here.team->run_by(*plan_, {.operation = Operation::bcast,
                                 .input = buffer.data(),
                                 .output = buffer.data(),
                                 .count = buffer.size(),
                                 .root = 0});
    } else {
      here.team->bcast(buffer.data(), buffer.size(), 0);
    }
  }
}

bool TeamBcast::is_right(const Here& here) {
  return has_words(here.rank == 0 ? here.source : here.target, here.stamp);
}

std::string TeamBcast::how(const Here& here) {
  if (plan_) return {};
  return chosen(here, {.operation = Operation::bcast, .bytes = here.source.size()});
}

TeamAllreduce::TeamAllreduce(PlanOrChoice plan)
    : plan_(std::move(plan)),
      sum_(memory::reduction(memory::Type::float64, memory::Operator::sum)) {}

void TeamAllreduce::prepare(const Here& here) { fill_numbers(here.source, here.stamp, here.rank); }

void TeamAllreduce::run(const Here& here, int calls) {
  const std::size_t count = here.source.size() / sizeof(double);
  for (int call = 0; call < calls; ++call) {
    if (plan_) {
      here.team->run_by(
          *plan_, {Operation::allreduce, here.source.data(), here.target.data(), count, &sum_, 0});
    } else {
      here.team->allreduce(here.source.data(), here.target.data(), count, sum_);
    }
  }
}

bool TeamAllreduce::is_right(const Here& here) {
  return has_sums(here.target, here.stamp, here.ranks);
}

std::string TeamAllreduce::how(const Here& here) {
  if (plan_) return {};
  return chosen(here, {Operation::allreduce, here.source.size(), sizeof(double)});
}

}  // namespace huddle::contest
