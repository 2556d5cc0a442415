// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle in one MPI process: what all its communicators have in common.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "mpi/back_end/activation.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/inter_node.h"
#include "mpi/back_end/node_context.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/devices.h"
#include "mpi/options.h"
#include "mpi/presence.h"
#include "mpi/stats.h"
#include "mpi/stub/door.h"
#include "mpi/verification.h"
#include "runtime/memory/heap.h"

namespace huddle::mpi {

// Memory that a program asks its MPI for. Some MPIs keep a pool of their own for that, where no
// peer can map it; so what is large enough for the heap comes from there.

// For several threads.
class AllocMemBlocks {
 public:
  // Null where the heap does not take a block of that size.
  void* lend(const memory::HeapFacts& heap, std::size_t bytes);
  // Whether it was lent; then it is free.
  bool take_back(void* block);

 private:
  std::mutex mutex_;  // guards what follows
  std::unordered_set<void*> lent_;
};

class Process {
 public:
  explicit Process(const huddle_door& door);

  const UnderlyingMpi& real() const { return real_; }
  const Types& types() const { return types_; }
  const Operators& operators() const { return operators_; }
  const Options& options() const { return options_; }
  Stats& stats() { return stats_; }
  Devices& devices() { return devices_; }
  const Devices& devices() const { return devices_; }
  InterNode& inter_node() { return inter_node_; }
  bool is_null(Comm comm) const { return comm == null_; }
  // Returns null for MPI_COMM_NULL, after MPI_Finalize, and if the MPI cannot store the entry.
  // Throws InvalidCommunicator.
  Communicator* find(Comm comm);
  // Frees a communicator by this function of the MPI's, and with it what huddle keeps of it.
  int free(Comm* comm, int (*by_mpi)(Comm*));
  // A call that moves so many bytes, equal on all ranks: it may be the one that makes the team.
  void count(Communicator& communicator, std::size_t bytes);

  // In the MPI's stead. Null where it has to be asked.
  void* lend(std::size_t bytes, Info info);
  // Whether it was lent.
  bool take_back(void* block) { return lent_.take_back(block); }

  // Whether any communicator came so far as to ask for a team.
  bool has_joined() const { return mpi_progress_.is_available(); }

  Verification& verification() { return verification_; }
  // Prints what `--verify` found until now, unless that has been printed: for a process that ends
  // without MPI_Finalize.
  void report_verification();

  // One line on stderr.
  void complain(std::string_view sentence);

  // Before MPI comes up, once it is there, and before it goes.
  void sign_in();
  void sign_in_for_world(bool has_threads);
  void begin();
  void end();
  // The same of each session.
  void opened(Session session);
  void closing(Session session);
  // Before the process goes: a program that has no world says its last word here.
  void leave();

 private:
  void keep_moving();
  void start_heap();
  void note_other_launcher();
  void say_goodbye(bool speaks);
  void report_verification_at_exit();
  Run run() const;

  const huddle_door& door_;
  // Before the MPI came up: some that do not know their launcher name themselves rank 0 then.
  const bool is_launchers_speaker_;
  bool is_alone_among_many_ = false;
  UnderlyingMpi real_;
  Types types_;
  Operators operators_;
  Options options_;
  Comm null_;
  Comm world_;
  Comm self_;
  Info no_info_;
  Communicators communicators_;
  Stats stats_;
  WorldRanks world_ranks_;
  RollCall roll_call_;
  InterNode inter_node_;
  MpiProgress mpi_progress_;
  NodeContext context_;
  Joining joining_;
  AllocMemBlocks lent_;
  Devices devices_;
  std::chrono::steady_clock::time_point begun_{};
  std::atomic<bool> ended_{false};
  std::atomic<bool> has_warned_{false};
  std::once_flag leaving_;
  pid_t pid_ = 0;                // the one that has sessions, and not what it forks
  std::atomic<int> world_rank_;  // from the launcher until MPI is initialized
  Verification verification_;
  std::once_flag reporting_;
  std::atomic<bool> has_reported_verification_{false};
};

// The one of this process: made when the stub opens the back end, and never gone.
Process& process();

}  // namespace huddle::mpi
