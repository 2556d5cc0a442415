// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The threads of watched programs: their numbers here, and what /proc says of them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

enum class Numbers {
  kept,    // of threads that have ended as well: what is told at the end names them
  reused,  // those of processes that are watched no more, by an agent that outlives many programs
};

class ThreadList {
 public:
  explicit ThreadList(Numbers numbers = Numbers::kept, System system = System())
      : system_(std::move(system)), reuse_(numbers) {}

  // Looks at the threads of these processes. New ones get the next numbers, in the order of the
  // operating system's, in which they were born.
  std::vector<ThreadUse> look(const std::vector<pid_t>& processes);
  // Those that another thread has by now, since the last call.
  std::vector<int> take_reused() { return std::exchange(reused_, {}); }
  // -1: not known, or one too many.
  int number_of(pid_t thread) const;
  // Their numbers by those of the operating system, as of the last look.
  const std::map<pid_t, int>& alive() const { return numbers_; }
  // Their processes, likewise.
  const std::map<pid_t, pid_t>& processes() const { return processes_; }
  // By number: as the program calls it, else as the program is called.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void free_numbers(const std::vector<pid_t>& processes);
  // -1: there are too many.
  int next_number(pid_t process, std::string name);

  System system_;
  Numbers reuse_;
  std::vector<pid_t> owners_;  // processes, by number; 0: it is free
  std::vector<int> reused_;
  std::map<pid_t, int> numbers_;
  std::map<pid_t, pid_t> processes_;
  std::vector<std::string> names_;
};

// Processor time that a process has used, all its threads together; 0 where it is gone.
double process_cpu_s(pid_t process);
// Of the thread that asks.
double own_cpu_s();

}  // namespace huddle::threads
