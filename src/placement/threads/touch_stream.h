// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is seen of watched processes, passed on in the order of time.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// The threads of watched programs: their numbers here, and what /proc says of them.
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

// Who is told.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void take(const Touch& touch) = 0;
  struct Wish {
    bool touches = true;  // it is worth while to make threads' writes visible
    int next_look_ms = 0;
    std::vector<Seat> seats = {};  // where threads are to be moved to, if they can be moved
    bool gives_back = false;       // those that were moved are no longer to be bound
  };
  virtual Wish take(const Look& look) = 0;
};

// CLOCK_MONOTONIC.
std::uint64_t now_ns();

// Pages of different processes are different pages.
class AddressSpaces {
 public:
  // What its page numbers begin with.
  std::uint64_t of(pid_t process);
  // Others have ended: whoever is given their number has pages of its own.
  void keep(const std::vector<pid_t>& processes);
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<pid_t, std::uint64_t> numbers_;
  std::uint64_t next_ = 0;
};

class TouchStream {
 public:
  // Times are told since now.
  explicit TouchStream(Listener& listener, Numbers numbers = Numbers::kept);

  // What these have seen of these processes since the last call; the faults of others are left
  // out.
  void pass(const std::vector<PageFaults*>& faults, const std::vector<pid_t>& processes);
  Listener::Wish look(const std::vector<pid_t>& processes);

  const ThreadList& threads() const { return threads_; }
  std::uint64_t touches() const { return touches_; }
  double seconds() const;

 private:
  std::uint64_t in_order(std::uint64_t time_ns);

  Listener& listener_;
  ThreadList threads_;
  std::vector<PageFault> batch_;
  std::uint64_t start_ns_;
  std::uint64_t last_ns_ = 0;  // that was passed on
  std::uint64_t touches_ = 0;
  std::uint64_t page_bytes_;
  AddressSpaces spaces_;
};

}  // namespace huddle::threads
