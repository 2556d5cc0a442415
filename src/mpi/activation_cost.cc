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

void ActivationTerms::combine(const ActivationTerms& other) {
  mpi_ns = std::min(mpi_ns, other.mpi_ns);
  past_mpi_ns = std::min(past_mpi_ns, other.past_mpi_ns);
  team_set_up_ns = std::max(team_set_up_ns, other.team_set_up_ns);
  nodes_set_up_ns = std::max(nodes_set_up_ns, other.nodes_set_up_ns);
}

ActivationDecision decide_activation(std::size_t calls, const ActivationTerms& of_all) {
  const std::uint64_t due_ns = saved_part * of_all.team_set_up_ns;
  const std::uint64_t made_ns = of_all.mpi_ns + of_all.past_mpi_ns;
  if (made_ns >= due_ns) return {.is_due = true};
  const bool is_near = made_ns >= due_ns / 2;
  if (calls < second_vote) return {.is_near = is_near, .next_vote = second_vote};
  // A vote takes about as long as a small call. So the calls until the next one are at least a
  // quarter of those so far, and at most their number, because later calls may move more data.
  const std::uint64_t missing_ns = (is_near ? due_ns : due_ns / 2) - made_ns;
  const std::uint64_t call_ns = std::max<std::uint64_t>(1, of_all.mpi_ns / calls);
  const std::uint64_t missing_calls = (missing_ns + call_ns - 1) / call_ns;
  return {.is_near = is_near,
          .next_vote = calls + std::clamp<std::uint64_t>(missing_calls, calls / 4, calls)};
}

std::uint64_t PastCalls::ns_of(std::span<const int> members) const {
  const std::scoped_lock lock(mutex_);
  for (const Account& one : accounts_) {
    if (std::equal(members.begin(), members.end(), one.members.begin(), one.members.end())) {
      return one.ns;
    }
  }
  return 0;
}

// Drops the entry if there is no memory for it.
void PastCalls::add(std::vector<int> members, std::uint64_t ns) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    const auto known = std::find_if(accounts_.begin(), accounts_.end(),
                                    [&](const Account& one) { return one.members == members; });
    if (known == accounts_.end()) {
      accounts_.push_front({std::move(members), ns});
      if (accounts_.size() > most_accounts) accounts_.pop_back();
      return;
    }
    known->ns += ns;
    accounts_.splice(accounts_.begin(), accounts_, known);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace huddle::mpi
