// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is seen of watched processes, passed on in the order of time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "placement/threads/page_faults.h"
#include "placement/threads/seats.h"
#include "placement/threads/thread_list.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

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
