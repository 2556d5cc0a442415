// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// When it pays for a communicator to have a team: once the calls so far would have saved as much as
// it costs to join, for then as many to come will pay for it, and a program that makes fewer calls
// pays nothing. All ranks reckon from what each of them has told, in whole numbers: so all come to
// the same end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace huddle::mpi {

// The first time that ranks ask each other what they have; it takes about as long as a call.
inline constexpr std::size_t first_ask = 32;

// What a rank tells when it is asked.
struct JoinTerms {
  std::uint64_t past_calls = 0;  // of communicators of the same ranks that are gone
  std::uint64_t call_ns = 0;     // what a small collective of the MPI takes here; 0: not known yet
  std::uint64_t join_ns = 0;     // what joining would take

  // Becomes what holds for both: fewer calls, the dearer joining, and the quicker call, for whoever
  // comes last to one waits for nobody.
  void meet(const JoinTerms& other);
};

struct JoinVerdict {
  bool joins = false;
  bool is_near = false;      // half of the calls are made
  std::size_t next_ask = 0;  // at how many calls to ask again, where it does not join
};
// calls: of this communicator so far, equal on all ranks. of_all: what holds for all of them.
JoinVerdict judge_price(std::size_t calls, const JoinTerms& of_all);

// Calls that the communicators of some ranks made before they were freed, without a team. For
// several threads.
class PastCalls {
 public:
  std::uint64_t of(std::span<const int> members) const;
  void add(std::vector<int> members, std::uint64_t calls) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    std::uint64_t calls = 0;
  };

  mutable std::mutex mutex_;     // guards what follows
  std::list<Account> accounts_;  // the latest first, and not very many
};

}  // namespace huddle::mpi
