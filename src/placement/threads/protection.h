// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Makes a program's writes visible: pages of it are write-protected again and again, so that the
// next write to each is a page fault of the thread that writes. The kernel lifts the protection at
// that fault by itself (userfaultfd with WP_ASYNC, Linux 6.7); the program notices nothing but its
// time. Reads are not seen.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/file_descriptor.h"
#include "placement/threads/sample_window.h"

namespace huddle::threads {

// This process's own, as the helper opens it. Not open: errno says why.
FileDescriptor open_userfaultfd();

// The memory of a process that is resident; 0 if that cannot be read.
std::uint64_t resident_bytes(pid_t process);

class Protection {
 public:
  enum class HugePages {
    left_alone,  // who shares them is not seen
    split,       // where they are protected, into pages that are seen one by one
  };
  // By the userfaultfd that the process has opened. When this ends, all protection ends.
  Protection(pid_t process, FileDescriptor userfaultfd, HugePages huge = HugePages::left_alone);

  bool works() const { return pagemap_.is_open(); }
  // Looks which memory there is by now. False where the program has opened a userfaultfd of its
  // own: then this has to end, for memory can be registered with one only.
  bool find_ranges();
  void watch_only(const AddressRange& range);
  // Protects pages of the sample that have been written to since they last were protected, up to so
  // many of them. How many faults that were.
  int rearm(int budget);

 private:
  struct Scan {
    int pages = 0;
    std::uint64_t bytes = 0;  // that have been looked at
  };
  Scan scan(const AddressRange& range, int most_pages) const;
  bool register_range(const AddressRange& range) const;

  pid_t process_;
  FileDescriptor userfaultfd_;
  FileDescriptor pagemap_;
  HugePages huge_;
  SampleWindow window_;
};

}  // namespace huddle::threads
