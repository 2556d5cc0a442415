// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The kernel's NUMA balancing makes reads visible as well: it takes pages away from a program,
// round and round, and the next access to each is a page fault of the thread that makes it, on a
// machine with one NUMA node too. It is one number for the whole machine: root alone may set it,
// all agents that have it on are counted, and the last of them sets it back. Slow: its clock is the
// processor time of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "placement/threads/child_processes.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/state_folder.h"

namespace huddle::threads {

class NumaBalancing {
 public:
  struct Files {
    std::string sysctl = "/proc/sys/kernel/numa_balancing";
    // The least time between two rounds. Only root finds it, and only where debugfs is mounted.
    std::string scan_period_ms = "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms";
    std::string counters = "/proc/vmstat";
    // A link that says which it is: the end of any but the first ends the guardian as well.
    std::string pid_namespace = "/proc/self/ns/pid";
  };
  // Turns it on, unless it is on, and shortens its rounds where that can be. Throws FailureError
  // where that cannot be.
  explicit NumaBalancing(const std::string& folder) : NumaBalancing(folder, Files()) {}
  NumaBalancing(const std::string& folder, Files files);
  // As it was, unless another agent still needs it.
  ~NumaBalancing();
  NumaBalancing(const NumaBalancing&) = delete;
  NumaBalancing& operator=(const NumaBalancing&) = delete;

  // Adds what it has made since the last call to what was spent, at most `seen`: faults of the
  // watched programs, whatever has made them. Over half of the budget it is set back until the
  // program has caught up, for faults cannot be made fewer otherwise.
  void account(std::uint64_t seen, const Budget& budget, Spent& spent);

  bool is_off() const { return is_paused_; }
  std::vector<std::string> notes() const;

 private:
  void turn_on(const std::vector<KeptState>& others);
  void keep(const std::vector<KeptState>& others, const std::string& path, long long wanted);
  bool is_needed_by_others() const;
  void set_paused(bool paused);
  void end();

  StateFolder folder_;
  Files files_;
  KeptState own_;
  std::unique_ptr<StateFile> file_;  // none: nothing is set, or the guardian was killed
  std::unique_ptr<Guardian> guardian_;
  std::uint64_t faults_before_ = 0;  // of all programs of the machine
  std::uint64_t faults_ = 0;         // accounted for
  bool is_paused_ = false;
  int pauses_ = 0;
  bool lost_guardian_ = false;
};

// How many hinting faults the kernel has made since it was started; 0 where it does not count them.
std::uint64_t hinting_faults(const std::string& counters);

}  // namespace huddle::threads
