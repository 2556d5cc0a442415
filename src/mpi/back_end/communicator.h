// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle keeps of a communicator: how much it has been used and, once that is enough, a team.
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
#include <string_view>
#include <thread>
#include <vector>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/devices.h"
#include "mpi/fallback_reason.h"
#include "mpi/stats.h"
#include "runtime/internode/internode_team.h"
#include "runtime/memory/reduction.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"
#include "runtime/team/team_pool.h"

namespace huddle::mpi {

// Thrown for a communicator that the MPI does not have. Its error handler has been called by then,
// and must not be called again for the same call of the program.
struct InvalidCommunicator : std::exception {
  explicit InvalidCommunicator(int status_of_mpi) : status(status_of_mpi) {}
  const char* what() const noexcept override { return "the MPI does not have this communicator"; }

  int status;  // what the MPI returned, and the program's call has to return
};

// For the one thread that makes the communicator's collective calls, as MPI asks for.
struct Communicator {
  // Which communicator it is about; threads that look for another one may read it at any time.
  std::atomic<Comm> handle{};
  int rank = 0;
  int ranks = 0;
  std::size_t calls = 0;  // before it joined
  std::size_t use = 0;    // the same calls, each counted by what it moves: see Joining
  // After how many calls its ranks ask each other whether to join; equal on all ranks.
  std::size_t next_ask = 0;
  std::uint64_t call_ns = 0;  // what a small collective of the MPI takes; 0: not known
  Shares shares;              // of its calls until now
  LibraryLoadMonitor::Looking looks{false};
  LatestFacts latest;
  std::unique_ptr<team::Team> team;
  std::unique_ptr<internode::Team> internode;  // in its stead, where its ranks are on several nodes
  // Whose team it is or may be: without the team, which waits in a pool once this is freed.
  team::TeamPool::Entry entry;
  // Why there is no team.
  Route passed = Route::too_young;
  team::Trouble why;  // where that takes a sentence

  bool has_rank(int number) const { return number >= 0 && number < ranks; }
  bool has_joined() const { return team != nullptr || internode != nullptr; }
  // Calls `action` with the team that it has, of one node or of several. pre: it has joined.
  template <class Action>
  void with_team(const Action& action) {
    if (internode) {
      action(*internode);
    } else {
      action(*team);
    }
  }
  // Whether its team joins what ranks contribute in an order that the operator allows. pre: it has
  // joined.
  bool can_join(const memory::Reduction& reduction) const {
    return internode == nullptr || internode->can_join(reduction);
  }
  // How the latest call was made. pre: it has joined.
  std::string_view latest_algorithm() const {
    return internode ? internode->latest_algorithm() : team->latest_algorithm();
  }
  // Which algorithm was to make it by force, and could not.
  std::string_view latest_unserved() const {
    return internode ? internode->latest_unserved() : team->latest_unserved();
  }
  // For a call that the others may be in already.
  void give_up(std::string_view reason) {
    if (team) team->give_up(reason);
    if (internode) internode->give_up(reason);
  }
};

// What huddle keeps of each communicator. It is stored as an attribute of the communicator, whose
// delete callback recycles it; a small cache is searched before the attribute is. Its memory is
// reused but never released, so that a thread may inspect any of them at any time.
//
// The delete callbacks of the program's own attributes may make collective calls on a communicator
// that is being freed, before or after the MPI has deleted huddle's attribute: the order depends on
// when each rank set which attribute. So all such calls go to the MPI, on every rank: see Freeing.
class Communicators {
 public:
  // While this lives, the calling thread is in MPI_Comm_free or MPI_Comm_disconnect, and its calls
  // on that communicator go to the MPI.
  class Freeing {
   public:
    Freeing(Communicators& communicators, Comm comm);
    ~Freeing();
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;

   private:
    Communicators& communicators_;
    Communicator* communicator_ = nullptr;  // null if the MPI does not have it
  };

  // Is told of a communicator that is freed, with its team.
  using AtEnd = std::function<void(Communicator& communicator)>;
  // young: why a new one has no team yet. at_end never throws.
  Communicators(const UnderlyingMpi& real, Find in_mpi, Route young, AtEnd at_end);

  // From here on there is memory for one communicator more than there are, as long as any is left:
  // a rank that had none for the next would not count its calls as the others do.
  void begin();
  // Returns the entry of a communicator, which is created if there is none yet; null if the MPI
  // cannot store it. Throws InvalidCommunicator.
  Communicator* find(Comm comm);
  // Of all there are and were. pre: nobody makes calls.
  Shares shares() const;
  // Until each thread that looks right now whether something was loaded has done so.
  void outlast_lookers() const;

 private:
  // A communicator that a thread is freeing. Its handle may be in use for another communicator as
  // soon as the MPI has run the last callback, but then by another thread.
  struct Freed {
    Comm comm;
    std::thread::id by;
    Communicator* communicator;
    bool has_attribute;  // false once the MPI has deleted huddle's
  };

  static int forget(Comm comm, int keyval, void* value, void* extra);
  void begin_freeing(Comm comm, Communicator& communicator);
  void end_freeing(Communicator& communicator);
  // Null if this thread is not freeing it.
  Communicator* being_freed(Comm comm) const;
  // Returns false if the communicator is recycled when its Freeing ends.
  bool may_recycle(Communicator& communicator);
  void retire(Communicator& communicator);
  void recycle(Communicator& communicator);
  Communicator* look_up(Comm comm);
  Communicator* make(Comm comm);
  Communicator& take_free();
  void add_spare();

  const UnderlyingMpi& real_;
  CopyFunction copy_to_no_duplicate_;
  Route young_;
  AtEnd at_end_;
  std::array<std::atomic<Communicator*>, 64> cache_{};
  mutable std::mutex mutex_;  // guards what follows
  Shares ended_;              // of those that have ended
  int keyval_ = keyval_invalid;
  std::deque<Communicator> all_;
  std::vector<Communicator*> free_;
  std::vector<Freed> freeing_;
};

// Who the ranks of a communicator are in their job.

// For several threads.
class WorldRanks {
 public:
  WorldRanks(const UnderlyingMpi& real, Comm world) : real_(real), world_(world) {}

  // The program's sessions: where there is no world, they know who is who.
  void opened(Session session);
  // How many are left.
  std::size_t closed(Session session);

  struct Ranks {
    std::vector<int> in_job = {};  // by rank of the communicator
    Route passed = Route::huddle;  // or why nothing can be said
  };
  Ranks ranks_of(const Communicator& communicator);

 private:
  // False where it cannot be told: of several sessions a communicator does not say whose it is, and
  // they must not be mixed.
  bool take_everybody(Group& everybody);

  const UnderlyingMpi& real_;
  Comm world_;
  std::mutex mutex_;  // guards what follows
  std::vector<Session> sessions_;
};

}  // namespace huddle::mpi
