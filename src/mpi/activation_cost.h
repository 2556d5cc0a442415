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

// The number of calls after which ranks ask each other for the first time what they have. Asking
// takes about as long as a call.
inline constexpr std::size_t first_ask = 32;

// What a rank tells when it is asked.
struct JoinTerms {
  // The calls of this communicator, of which one that moves much counts as several. A rank of an
  // erroneous program may count more than another one.
  std::uint64_t use = 0;
  std::uint64_t past_use = 0;  // the same, of communicators of the same ranks that are gone
  std::uint64_t call_ns = 0;   // what a small collective of the MPI takes here; 0: not known yet
  std::uint64_t join_ns = 0;   // what joining would take on one node
  std::uint64_t nodes_join_ns = 0;  // and over several

  // Those of ranks on several nodes. Nobody keeps a team over several nodes for communicators to
  // come: each has to pay by its own calls.
  JoinTerms over_nodes() const { return {use, 0, call_ns, nodes_join_ns, nodes_join_ns}; }

  // Becomes what holds for both: less use, the dearer joining, and the quicker call, for whoever
  // comes last to one waits for nobody.
  void meet(const JoinTerms& other);
};

// Of two times, of which 0 is one that is not known.
std::uint64_t quicker(std::uint64_t one_ns, std::uint64_t other_ns);

struct JoinVerdict {
  bool joins = false;
  bool is_near = false;      // half of the price is paid
  std::size_t next_ask = 0;  // after how many calls to ask again, if it does not join
};
// calls: the number of calls of this communicator so far. Nothing else decides when to ask, because
// it is equal on all ranks even if the program passes counts that differ. of_all: what holds for
// all ranks.
JoinVerdict judge_price(std::size_t calls, const JoinTerms& of_all);

// What is known of communicators of some ranks that were freed without a team. For several threads.
class PastCalls {
 public:
  struct Past {
    std::uint64_t use = 0;      // of all of them
    std::uint64_t call_ns = 0;  // the quickest; 0: not known
  };
  Past of(std::span<const int> members) const;
  void add(std::vector<int> members, const Past& more) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    Past past;
  };

  mutable std::mutex mutex_;     // guards what follows
  std::list<Account> accounts_;  // the latest first, and not very many
};

}  // namespace huddle::mpi
