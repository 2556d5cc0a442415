// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decides when huddle activates on a communicator: once the calls so far would have saved the cost
// of the set-up, because then the calls to come will probably repay it; a program that makes fewer
// calls pays nothing. All ranks reach the same result from the same exchanged integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace huddle::mpi {

// Numbers of calls after which the ranks vote on activation for the first time, and for the second.
// A vote exchanges their terms, which takes about as long as a small call, and much less than the
// creation of a communicator. The first one is for programs that make a few large calls.
inline constexpr std::size_t first_vote = 4;
inline constexpr std::size_t second_vote = 32;

// The data that a rank contributes to the decision.
struct ActivationTerms {
  std::uint64_t mpi_ns = 0;           // time of this communicator's calls in the MPI
  std::uint64_t past_mpi_ns = 0;      // on freed communicators of the same ranks
  std::uint64_t team_set_up_ns = 0;   // predicted set-up time on one node
  std::uint64_t nodes_set_up_ns = 0;  // predicted set-up time on several nodes

  // Returns the terms for a communicator over several nodes. Inter-node teams are not kept for
  // later communicators, so each has to repay its set-up by its own calls, without past_mpi_ns.
  ActivationTerms over_nodes() const { return {mpi_ns, 0, nodes_set_up_ns, nodes_set_up_ns}; }

  // Combines both into terms that hold for both ranks: the longer set-up, and the shorter time in
  // the MPI, because a rank that enters its calls last does not wait for any other.
  void combine(const ActivationTerms& other);
};

struct ActivationDecision {
  bool is_due = false;
  bool is_near = false;       // half of the set-up cost is reached
  std::size_t next_vote = 0;  // the call count at which to vote again if `is_due` is false
};
// Returns whether to activate now and, if not, at which call to vote again. `calls` is the number
// of calls on this communicator, which is equal on all ranks even if the program passes different
// counts. `of_all` contains the combined terms of all ranks.
ActivationDecision decide_activation(std::size_t calls, const ActivationTerms& of_all);

// Time that the calls of freed communicators took, which never had a team, by their list of ranks.
// Thread-safe.
class PastCalls {
 public:
  std::uint64_t ns_of(std::span<const int> members) const;
  void add(std::vector<int> members, std::uint64_t ns) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    std::uint64_t ns;
  };

  mutable std::mutex mutex_;     // guards the member below
  std::list<Account> accounts_;  // most recently updated first, at most 64
};

}  // namespace huddle::mpi
