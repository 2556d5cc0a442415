// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's data for a communicator: its use so far and, after activation, its team.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/repeated_calls.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/call_log.h"
#include "mpi/devices.h"
#include "mpi/fallback_reason.h"
#include "mpi/stats.h"
#include "runtime/internode/internode_team.h"
#include "runtime/memory/reduction.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"
#include "runtime/team/team_pool.h"

namespace huddle::mpi {

// Thrown for an invalid communicator. The MPI has called its error handler, which must not be
// called again for the same call of the program.
struct InvalidCommunicator : std::exception {
  explicit InvalidCommunicator(int status_of_mpi) : status(status_of_mpi) {}
  const char* what() const noexcept override { return "the MPI does not have this communicator"; }

  int status;  // the MPI's result, which the program's call has to return
};

// For one thread at a time, as MPI requires of collective calls on a communicator.
struct Communicator {
  // Atomic because threads that search for another communicator may read it at any time.
  std::atomic<Comm> handle{};
  int rank = 0;
  int ranks = 0;
  std::size_t calls = 0;  // number of calls before activation
  // The call count at which the ranks next vote on activation; equal on all ranks.
  std::size_t next_vote = 0;
  // The largest buffer of a call before activation. It may have been freed since.
  std::span<const std::byte> data;
  std::uint64_t mpi_ns = 0;  // time of these calls in the MPI
  Shares shares;             // statistics of its calls so far
  // The log of its calls: null if they are not logged, empty until its first call.
  std::optional<CallLog*> log;
  LibraryLoadMonitor::Looking looks{false};
  LatestFacts latest;
  std::unique_ptr<RepeatedCalls> repeated;  // allocated when the first call is handled
  std::unique_ptr<team::Team> team;
  std::unique_ptr<internode::Team> internode;  // replaces `team` over several nodes
  // The pool entry of the team, whose `team` is empty while this communicator owns it; the team
  // returns to the pool when the communicator is freed.
  team::TeamPool::Entry entry;
  // The reason why there is no team, if there is none.
  FallbackReason fallback = FallbackReason::not_activated;
  team::RankError why;  // details of the reason, if any

  bool has_rank(int number) const { return number >= 0 && number < ranks; }
  bool is_active() const { return team != nullptr || internode != nullptr; }
  // Calls `action` with the team, intra-node or inter-node.
  // Requires: is_active().
  template <class Action>
  void with_team(const Action& action) {
    if (internode) {
      action(*internode);
    } else {
      action(*team);
    }
  }
  // Returns whether the team reduces in an order that the operator permits.
  // Requires: is_active().
  bool can_reduce(const memory::Reduction& reduction) const {
    return internode == nullptr || internode->can_reduce(reduction);
  }
  // Returns the algorithm of the latest call.
  // Requires: is_active().
  std::string_view latest_algorithm() const {
    return internode ? internode->latest_algorithm() : team->latest_algorithm();
  }
  // Returns the forced algorithm that could not run the latest call, or an empty string.
  std::string_view latest_unserved() const {
    return internode ? internode->latest_unserved() : team->latest_unserved();
  }
  // Abandons the team after a failure in a call that the other ranks may have entered.
  void abandon(std::string_view reason) {
    if (team) team->abandon(reason);
    if (internode) internode->abandon(reason);
  }
};

// huddle's data for all communicators. An entry is stored as an attribute of its communicator,
// whose delete callback recycles it; a small cache avoids most attribute look-ups. The memory of
// entries is reused but never released, so that a thread may inspect any entry at any time.
//
// Delete callbacks of the program's own attributes may make collective calls on a communicator that
// is being freed, before or after the MPI has deleted huddle's attribute: the order depends on the
// order in which each rank set the attributes. So all such calls fall back to the MPI on every
// rank: see Freeing.
class Communicators {
 public:
  // Marks that the calling thread is in MPI_Comm_free or MPI_Comm_disconnect: its calls on that
  // communicator fall back to the MPI.
  class Freeing {
   public:
    Freeing(Communicators& communicators, Comm comm);
    ~Freeing();
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;

   private:
    Communicators& communicators_;
    Communicator* communicator_ = nullptr;  // null if huddle has no data for it
  };

  // Called with each communicator that is freed, before its team is released.
  using AtEnd = std::function<void(Communicator& communicator)>;
  // `young` is the initial fallback reason of a new communicator. `at_end` must not throw.
  Communicators(const UnderlyingMpi& real, Find in_mpi, FallbackReason young, AtEnd at_end);

  // Allocates the entry of the next communicator in advance, if there is memory; from then on, one
  // spare entry is kept. A rank without memory for an entry would not count the calls that the
  // other ranks count.
  void begin();
  // Returns the entry of a communicator, which is created if there is none yet; null if the MPI
  // cannot store it. Throws InvalidCommunicator.
  Communicator* find(Comm comm);
  // Sum over all current and freed communicators.
  // Requires: no other thread makes calls.
  Shares shares() const;
  // Lets each team note the state of its trials in the context's history.
  // Requires: no other thread makes calls.
  void note_tuning() const;
  // Blocks until every thread has left LibraryLoadMonitor::has_news().
  void outlast_lookers() const;

 private:
  // A communicator that a thread is freeing. Another thread may create a communicator with the same
  // handle as soon as the MPI has run the last callback, hence the thread ID.
  struct Freed {
    Comm comm;
    std::thread::id by;
    Communicator* communicator;
    bool has_attribute;  // false once the MPI has deleted huddle's attribute
  };

  static int forget(Comm comm, int keyval, void* value, void* extra);
  void begin_freeing(Comm comm, Communicator& communicator);
  void end_freeing(Communicator& communicator);
  // Returns the entry if this thread is freeing the communicator, else null.
  Communicator* being_freed(Comm comm) const;
  // Returns false if the entry will be recycled later, when its Freeing ends.
  bool may_recycle(Communicator& communicator);
  void retire(Communicator& communicator);
  void recycle(Communicator& communicator);
  Communicator* look_up(Comm comm);
  Communicator* make(Comm comm);
  Communicator& take_free();
  void add_spare();

  const UnderlyingMpi& real_;
  CopyFunction copy_to_no_duplicate_;
  FallbackReason young_;
  AtEnd at_end_;
  std::array<std::atomic<Communicator*>, 64> cache_{};
  mutable std::mutex mutex_;  // guards the members below
  Shares ended_;              // statistics of freed communicators
  int keyval_ = keyval_invalid;
  std::deque<Communicator> all_;
  std::vector<Communicator*> free_;
  std::vector<Freed> freeing_;
};

// Translates the ranks of a communicator to ranks of its job. Thread-safe.
class WorldRanks {
 public:
  WorldRanks(const UnderlyingMpi& real, Comm world) : real_(real), world_(world) {}

  // Tracks the program's sessions, which provide the ranks if the world model is not initialized.
  void session_opened(Session session);
  // Returns the number of remaining sessions.
  std::size_t closed(Session session);

  struct Ranks {
    std::vector<int> in_job = {};                    // by rank in the communicator
    FallbackReason fallback = FallbackReason::none;  // or the reason why the ranks are unknown
  };
  Ranks ranks_of(const Communicator& communicator);

 private:
  // Obtains the group of all ranks. Returns false if it is unknown: with several sessions, MPI does
  // not reveal to which one a communicator belongs, and their groups must not be mixed.
  bool take_everybody(Group& everybody);

  const UnderlyingMpi& real_;
  Comm world_;
  std::mutex mutex_;  // guards the member below
  std::vector<Session> sessions_;
};

}  // namespace huddle::mpi
