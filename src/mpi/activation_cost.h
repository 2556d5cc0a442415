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

// Number of calls after which the ranks first vote on activation. A vote exchanges their terms,
// which takes about as long as a small call.
inline constexpr std::size_t first_vote = 32;

// The data that a rank contributes to the decision.
struct ActivationTerms {
  // Calls on this communicator; a call that moves much data counts as several. Ranks may count
  // differently in an erroneous program.
  std::uint64_t use = 0;
  std::uint64_t past_use = 0;  // on freed communicators of the same ranks
  std::uint64_t call_ns = 0;   // time of a small collective of the MPI on this rank; 0: unknown
  std::uint64_t team_set_up_ns = 0;   // predicted set-up time on one node
  std::uint64_t nodes_set_up_ns = 0;  // predicted set-up time on several nodes

  // Returns the terms for a communicator over several nodes. Inter-node teams are not kept for
  // later communicators, so each has to repay its set-up by its own calls, without past_use.
  ActivationTerms over_nodes() const { return {use, 0, call_ns, nodes_set_up_ns, nodes_set_up_ns}; }

  // Combines both into terms that hold for both ranks: the smaller use, the longer set-up, and the
  // shorter call time, because the rank that enters a call last does not wait for any other.
  void combine(const ActivationTerms& other);
};

// Returns the smaller of two times, where 0 means unknown.
std::uint64_t smaller_known(std::uint64_t one_ns, std::uint64_t other_ns);

struct ActivationDecision {
  bool is_due = false;
  bool is_near = false;       // half of the set-up cost is reached
  std::size_t next_vote = 0;  // the call count at which to vote again if `is_due` is false
};
// Returns whether to activate now and, if not, at which call to vote again. `calls` is the number
// of calls on this communicator, which is equal on all ranks even if the program passes different
// counts. `of_all` contains the combined terms of all ranks.
ActivationDecision decide_activation(std::size_t calls, const ActivationTerms& of_all);

// Statistics of freed communicators that never had a team, by their list of ranks. Thread-safe.
class PastCalls {
 public:
  struct Past {
    std::uint64_t use = 0;      // sum over these communicators
    std::uint64_t call_ns = 0;  // the shortest time; 0: unknown
  };
  Past of(std::span<const int> members) const;
  void add(std::vector<int> members, const Past& more) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    Past past;
  };

  mutable std::mutex mutex_;     // guards the member below
  std::list<Account> accounts_;  // most recently updated first, at most 64
};

}  // namespace huddle::mpi
