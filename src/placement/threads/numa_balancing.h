// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Uses the kernel's NUMA balancing to make reads visible: it periodically unmaps pages, and the
// next access to each is a page fault of the accessing thread, even on a machine with one NUMA
// node. It is one setting for the whole machine: only root may change it, all agents that use it
// are counted, and the last one restores it. It is slow: it advances with CPU time.
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
    // Minimum time between two rounds. Only root can access it, and only if debugfs is mounted.
    std::string scan_period_ms = "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms";
    std::string counters = "/proc/vmstat";
    // Identifies the PID namespace. If a namespace other than the initial one ends, the kernel ends
    // the guardian, too.
    std::string pid_namespace = "/proc/self/ns/pid";
  };
  // Turns NUMA balancing on, unless it is on, and shortens its rounds if possible. Throws
  // FailureError if it cannot be turned on.
  explicit NumaBalancing(const std::string& folder) : NumaBalancing(folder, Files()) {}
  NumaBalancing(const std::string& folder, Files files);
  // Restores the previous setting, unless another agent still needs NUMA balancing.
  ~NumaBalancing();
  NumaBalancing(const NumaBalancing&) = delete;
  NumaBalancing& operator=(const NumaBalancing&) = delete;

  // Adds the hinting faults since the last call to `spent`, but at most `seen`, the number of all
  // page faults of the watched programs. Pauses NUMA balancing if it uses more than half of the
  // budget, because the number of faults cannot be reduced otherwise.
  void account(std::uint64_t seen, const Budget& budget, Spent& spent);

  bool is_off() const { return is_paused_; }
  std::vector<std::string> notes() const;

 private:
  void turn_on(const std::vector<SavedState>& others);
  void keep(const std::vector<SavedState>& others, const std::string& path, long long wanted);
  bool is_needed_by_others() const;
  void set_paused(bool paused);
  void end();

  StateFolder folder_;
  Files files_;
  SavedState own_;
  std::unique_ptr<StateFile> file_;  // null if nothing is set, or if the guardian was killed
  std::unique_ptr<Guardian> guardian_;
  std::uint64_t faults_before_ = 0;  // of all programs of the machine
  std::uint64_t faults_ = 0;         // accounted for
  bool is_paused_ = false;
  int pauses_ = 0;
  bool lost_guardian_ = false;
};

// Returns the number of hinting faults since the kernel was started; 0 if it does not count them.
std::uint64_t hinting_faults(const std::string& counters);

}  // namespace huddle::threads
