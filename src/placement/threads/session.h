// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A program that runs and is watched: makes its threads' writes visible within a budget, and passes
// on what it sees.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "placement/threads/agent_socket.h"
#include "placement/threads/mover.h"
#include "placement/threads/numa_balancing.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/protection.h"
#include "placement/threads/touch_stream.h"

namespace huddle::threads {

struct WatchedProgram {
  std::string file;                      // what is executed
  std::vector<std::string> words;        // the first is what the program takes its name from
  std::vector<std::string> environment;  // NAME=VALUE; without the helper
  std::string helper;                    // the library that is preloaded; empty: none
  Observer observer = Observer::perf;
  bool splits_huge = false;  // pages of it, to see who shares them
};

// Lists what was not observed of a program that huddle has started.
struct Unobserved {
  bool reads = true;         // of all memory
  bool splits_huge = false;  // huge pages were split to observe them
  // The most memory at one time; nothing if the program ended before it was counted.
  std::optional<MemoryCensus> memory = {};
};

struct Watched {
  int wait_status = 0;  // as waitpid() has it
  double seconds = 0;
  Spent spent;
  double fault_s = 0;                   // what a fault costs here
  std::uint64_t touches = 0;            // that were seen, the program's own faults among them
  std::uint64_t lost = 0;               // for which there was no room
  std::vector<std::string> names = {};  // by thread
  std::vector<std::string> notes = {};  // why something was not seen
  int programs = 0;                     // that were watched
  Unobserved unobserved = {};
  FileDescriptor report = {};  // of the first one that wants to be told
};

// Who helps those who watch.
struct Helpers {
  Mover* mover = nullptr;              // binds threads; null: nobody does
  NumaBalancing* balancing = nullptr;  // makes page faults, of reads as well; null: nobody does
};

// Starts it, and returns once it has ended. Signals that would end us meanwhile go to the program.
// Throws FailureError where it cannot be started or watched.
Watched watch_program(const WatchedProgram& program, Listener& listener,
                      NumaBalancing* balancing = nullptr);

// It, and whatever programs the mover is handed meanwhile, until the last of them has ended or a
// signal asks us to stop.
Watched watch_awaited(AwaitedProgram program, Listener& listener, const Helpers& helpers);

// A process that runs already, for so many seconds, until it ends, or until a signal asks us to
// stop. Only the page faults are seen that it has anyway, and those that NUMA balancing makes.
// Throws FailureError where it is not there, or may not be watched.
Watched watch_process(pid_t process, int seconds, Listener& listener, const Helpers& helpers = {});

}  // namespace huddle::threads
