// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Passes the observed events of processes to an observer, ordered by time.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "placement/threads/memory_counters.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// Specifies when the numbers of ended threads are reused.
enum class Numbers {
  kept,    // only if there are no others left, because reports name ended threads as well
  reused,  // at once, for an agent that outlives many programs
};

// The threads of watched programs, with their numbers and their state in /proc.
class ThreadList {
 public:
  explicit ThreadList(Numbers numbers = Numbers::kept, System system = System())
      : system_(std::move(system)), reuse_(numbers) {}

  // Reads the threads of these processes. New threads get the next numbers, in the order of their
  // ids.
  std::vector<ThreadUse> look(const std::vector<pid_t>& processes);
  // Begins a pass over observed events.
  void begin_pass();
  // Returns the number of a thread that one of these processes had when the pass began. If a thread
  // is unknown, looks for new ones, but at most once per pass, because reading the state of all
  // threads takes long. Returns -1 if the thread has ended.
  int find(pid_t process, pid_t thread, const std::vector<pid_t>& processes);
  // Returns the numbers that were reassigned to another thread since the last call.
  std::vector<int> take_reused();
  // Returns -1 if the thread is unknown, or if there are too many.
  int number_of(pid_t thread) const;
  // Numbers of the running threads by thread id, as of the last look().
  const std::map<pid_t, int>& alive() const { return numbers_; }
  // Processes of the running threads, likewise.
  const std::map<pid_t, pid_t>& processes() const { return processes_; }
  // Names by thread number: the name that the program gave the thread, or else the program's name.
  const std::vector<std::string>& names() const { return names_; }

 private:
  enum class NewNumbers { any, unused };  // unused: not those of ended threads
  std::vector<ThreadUse> look(const std::vector<pid_t>& processes, NewNumbers numbers);
  // Returns -1 if there are too many.
  int next_number(std::string name, NewNumbers numbers);

  System system_;
  Numbers reuse_;
  // Numbers of ended threads. The latest one is reused first: if a program creates many threads one
  // after the other, few numbers change hands.
  std::vector<int> free_;
  std::set<int> reused_;
  bool has_looked_ = false;  // in this pass
  std::set<pid_t> missing_;  // threads that were not found in this pass
  std::map<pid_t, int> numbers_;
  std::map<pid_t, pid_t> processes_;
  std::vector<std::string> names_;
};

// Returns the CPU time in seconds of all threads of a process; 0 if it has ended.
double process_cpu_s(pid_t process);
// Returns the CPU time in seconds of the calling thread.
double own_cpu_s();

// Receives the events of a TouchStream.
class TouchObserver {
 public:
  virtual ~TouchObserver() = default;
  virtual void take(const Touch& touch) = 0;
  struct Actions {
    bool touches = true;  // whether making writes visible is worthwhile
    int next_look_ms = 0;
    std::vector<Assignment> assignments = {};  // target placement, if threads can be moved
    bool restores = false;                     // threads that were moved get their masks back
  };
  virtual Actions take(const Look& look) = 0;
};

// Returns CLOCK_MONOTONIC in ns.
std::uint64_t now_ns();

// Distinguishes the pages of different processes.
class AddressSpaces {
 public:
  // Returns the high bits of the page numbers of `process`.
  std::uint64_t of(pid_t process);
  // Forgets all other processes, whose ids the system may reuse.
  void keep(const std::vector<pid_t>& processes);
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<pid_t, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
};

class TouchStream {
 public:
  // Times are relative to the construction.
  explicit TouchStream(TouchObserver& observer, Numbers numbers = Numbers::kept);

  // Passes on what `faults` have observed since the last call. Leaves out faults of processes not
  // in `processes`.
  void pass(const std::vector<PageFaults*>& faults, const std::vector<pid_t>& processes);
  TouchObserver::Actions look(const std::vector<pid_t>& processes);

  const ThreadList& threads() const { return threads_; }
  std::uint64_t touches() const { return touches_; }
  double seconds() const;
  // Returns whether the memory traffic of all threads has been counted.
  bool counts_memory() const { return counters_.works(); }

 private:
  std::uint64_t in_order(std::uint64_t time_ns);

  TouchObserver& observer_;
  ThreadList threads_;
  MemoryCounters counters_;
  std::vector<PageFault> batch_;
  std::uint64_t start_ns_;
  std::uint64_t last_ns_ = 0;  // time of the last event
  std::uint64_t touches_ = 0;
  std::uint64_t page_bytes_;
  AddressSpaces spaces_;
};

}  // namespace huddle::threads
