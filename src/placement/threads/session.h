// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Watches a running program: makes the writes of its threads visible within a budget and passes the
// observed events to a TouchObserver.
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
  std::string file;                      // the executable
  std::vector<std::string> words;        // argv, including argv[0]
  std::vector<std::string> environment;  // NAME=VALUE; without the helper
  std::string helper;                    // the library that is preloaded; empty for none
  Observer observer = Observer::perf;
  bool splits_huge = false;  // split huge pages to see which threads share them
};

// Limits of the observation of a program that huddle has started.
struct Unobserved {
  bool reads = true;         // of all memory
  bool traffic = true;       // from memory, because the processor's counters cannot be used
  bool splits_huge = false;  // huge pages were split to observe them
  // Maximum over the run; nothing if the program ended before the first census.
  std::optional<MemoryCensus> memory = {};
};

struct Watched {
  int wait_status = 0;  // as returned by waitpid()
  double seconds = 0;
  Spent spent;
  double fault_s = 0;                   // cost of a fault on this machine
  std::uint64_t touches = 0;            // observed events, including the program's own page faults
  std::uint64_t lost = 0;               // events that did not fit into a ring
  std::vector<std::string> names = {};  // by thread
  std::vector<std::string> notes = {};  // reasons why something was not observed
  int programs = 0;                     // number of watched programs
  Unobserved unobserved = {};
  FileDescriptor report = {};  // of the first program that expects a report
};

// Optional parts of a watch session.
struct Helpers {
  Mover* mover = nullptr;              // binds threads, may be null
  NumaBalancing* balancing = nullptr;  // makes reads visible by page faults, may be null
};

// Starts the program, and returns once it has ended. Passes signals that would end this process to
// the program. Throws FailureError if the program cannot be started or watched.
Watched watch_program(const WatchedProgram& program, TouchObserver& observer,
                      NumaBalancing* balancing = nullptr);

// Watches a program, and the programs that are handed to the mover in the meantime, until the last
// of them has ended or a signal to stop arrives.
Watched watch_awaited(AwaitedProgram program, TouchObserver& observer, const Helpers& helpers);

// Watches a running process for `seconds`, until it ends, or until a signal to stop arrives.
// Observes only the page faults that the process has anyway, and those of NUMA balancing. Throws
// FailureError if the process does not exist or may not be watched.
Watched watch_process(pid_t process, int seconds, TouchObserver& observer,
                      const Helpers& helpers = {});

}  // namespace huddle::threads
