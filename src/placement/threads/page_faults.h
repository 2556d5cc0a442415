// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Page faults of a program, one by one, with thread and address: the kernel's software event, read
// from a ring a processor. Works for one's own programs up to perf_event_paranoid 2. With the
// observer bpf a program in the kernel notes the faults, and the rings tell of births alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/file_descriptor.h"
#include "placement/threads/bpf_faults.h"
#include "placement/threads/page_fault.h"

struct perf_event_mmap_page;

namespace huddle::threads {

// A thread or, where the processes differ, a process was started.
struct Birth {
  pid_t process = 0;
  pid_t thread = 0;
  pid_t parent = 0;  // the thread that has started it
};

class PageFaults {
 public:
  // Of this process, its threads and its children from its next exec() on. Throws FailureError that
  // says what to do.
  static PageFaults from_exec_of(pid_t process, Observer observer = Observer::perf);
  // Of nobody, until threads are added. Throws FailureError where there is no such observer.
  explicit PageFaults(Observer observer = Observer::perf);
  // Of this thread from now on. False where the kernel refuses it: errno says why.
  bool add_thread(pid_t thread);
  bool is_watching(pid_t thread) const;
  // Of threads that were added: others have ended.
  void keep_threads(const std::map<pid_t, int>& alive);
  // What to do about that errno.
  [[noreturn]] static void fail_to_open(int error);

  // Adds what has come since the last call, in the order of time.
  void drain(std::vector<PageFault>& faults);
  // What was born according to all that was drained since the last call.
  std::vector<Birth> take_births() { return std::exchange(births_, {}); }
  // For which a ring had no room.
  std::uint64_t lost() const { return lost_ + (bpf_ ? bpf_->lost() : 0); }
  // As counted in the kernel; nothing with the observer perf, which counts what it has told.
  std::optional<std::uint64_t> counted() const {
    return bpf_ ? std::optional(bpf_->seen()) : std::nullopt;
  }

 private:
  struct Ring {
    FileDescriptor event;
    perf_event_mmap_page* head = nullptr;
    pid_t thread = 0;  // 0: all of a processor
    std::size_t bytes = 0;

    Ring(FileDescriptor opened, std::size_t data_pages, pid_t of_thread);
    Ring(Ring&& other) noexcept;
    Ring& operator=(Ring&& other) noexcept;
    ~Ring();
  };
  void drain(Ring& ring, std::vector<PageFault>& faults);
  // False: errno says why.
  bool is_observed(const FileDescriptor& event) const;

  std::optional<BpfFaults> bpf_;
  std::vector<Ring> rings_;
  std::vector<Birth> births_;
  std::uint64_t lost_ = 0;
};

}  // namespace huddle::threads
