// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/activation_cost.h"

#include <algorithm>
#include <new>
#include <utility>

namespace huddle::mpi {
namespace {

// huddle is assumed to save 1/saved_part of the time that the MPI's collectives take: the saving
// that `huddle bench` shows over the best of five MPIs (README).
constexpr std::uint64_t saved_part = 3;

constexpr std::size_t most_accounts = 64;

}  // namespace

std::uint64_t smaller_known(std::uint64_t one_ns, std::uint64_t other_ns) {
  if (one_ns == 0 || other_ns == 0) return std::max(one_ns, other_ns);
  return std::min(one_ns, other_ns);
}

void ActivationTerms::combine(const ActivationTerms& other) {
  use = std::min(use, other.use);
  past_use = std::min(past_use, other.past_use);
  call_ns = std::min(call_ns, other.call_ns);
  team_set_up_ns = std::max(team_set_up_ns, other.team_set_up_ns);
  nodes_set_up_ns = std::max(nodes_set_up_ns, other.nodes_set_up_ns);
}

ActivationDecision decide_activation(std::size_t calls, const ActivationTerms& of_all) {
  // A vote takes about as long as a small call. So the use until the next vote is at least a
  // quarter of the number of calls so far, and at most that number, because later calls may move
  // more data.
  const std::size_t use_per_call = std::max<std::size_t>(1, of_all.use / calls);
  const auto next_vote = [&](std::uint64_t missing_use) {
    const std::uint64_t use = std::clamp<std::uint64_t>(missing_use, calls / 4, calls);
    return calls + std::max<std::size_t>(1, use / use_per_call);
  };
  if (of_all.call_ns == 0) return {.next_vote = next_vote(calls)};
  const std::uint64_t decision = saved_part * of_all.team_set_up_ns / of_all.call_ns;
  const std::uint64_t made = of_all.use + of_all.past_use;
  if (made >= decision) return {.is_due = true};
  const bool is_near = made >= decision / 2;
  const std::uint64_t until = is_near ? decision : decision / 2;
  return {.is_near = is_near, .next_vote = next_vote(until - made)};
}

PastCalls::Past PastCalls::of(std::span<const int> members) const {
  const std::scoped_lock lock(mutex_);
  for (const Account& one : accounts_) {
    if (std::equal(members.begin(), members.end(), one.members.begin(), one.members.end())) {
      return one.past;
    }
  }
  return {};
}

// Drops the entry if there is no memory for it.
void PastCalls::add(std::vector<int> members, const Past& more) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    const auto known = std::find_if(accounts_.begin(), accounts_.end(),
                                    [&](const Account& one) { return one.members == members; });
    if (known == accounts_.end()) {
      accounts_.push_front({std::move(members), more});
      if (accounts_.size() > most_accounts) accounts_.pop_back();
      return;
    }
    Past& past = known->past;
    past.use += more.use;
    past.call_ns = smaller_known(past.call_ns, more.call_ns);
    accounts_.splice(accounts_.begin(), accounts_, known);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace huddle::mpi
