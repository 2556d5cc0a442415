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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace huddle::threads {

// The moving sample of a program's memory: a window on all its ranges laid end to end. It is gone
// over again and again, so that each page in it is seen several times, and then moves on. How many
// pages it holds follows what one call may protect.
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - start; }
  bool operator==(const AddressRange&) const = default;
};

// Returns the range of a line of /proc/PID/maps: "55d0c000-55d0e000".
AddressRange range_from(std::string_view text);

// What a program writes to, by the lines of its /proc/PID/maps: neither devices nor memory that is
// shared with other programs.
std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps);

class SampleWindow {
 public:
  // The window stays where it is among them, as far as they reach, and its pages are new again.
  void set_ranges(std::vector<AddressRange> ranges);

  // How many pages a call may protect where the budget allows so many.
  int most_pages(int budget) const { return is_first_pass() ? wanted_pages_ - found_ : budget; }
  // What comes next in this pass; nothing once it is over.
  std::optional<AddressRange> next() const;
  // So much of that has been gone over.
  void advance(std::uint64_t bytes) { at_ += bytes; }
  // A call is over: it has found so many pages of those that it might have.
  void finish_call(int pages, int most_pages);

  // It goes as far as it takes to find enough pages. None was protected before: what is found are
  // no faults.
  bool is_first_pass() const { return pass_ == 0; }

 private:
  void finish_first_pass(int pages);
  void move_on();
  std::uint64_t end() const { return is_first_pass() ? all_bytes_ : length_; }

  std::vector<AddressRange> ranges_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t start_ = 0;   // of the window
  std::uint64_t length_ = 0;  // once the first pass is over
  std::uint64_t at_ = 0;      // in the window: up to where this pass has come
  int wanted_pages_ = 256;
  int found_ = 0;  // in the first pass
  int pass_ = 0;
  // In the passes after the first:
  int calls_ = 0;
  int pages_in_pass_ = 0;
  int empty_passes_ = 0;      // in a row
  double share_of_most_ = 0;  // of what those calls might have found, added up
};

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

// Counts the memory of a process whose sharing write protection does not show.
struct MemoryCensus {
  std::uint64_t resident_bytes = 0;  // all memory; reads of it are not observed
  std::uint64_t shared_bytes = 0;    // writable mappings that other processes may share
  std::uint64_t huge_bytes = 0;      // private memory in huge pages

  // Keeps the larger of each two figures.
  void keep_most(const MemoryCensus& other);
  bool operator==(const MemoryCensus&) const = default;
};

// Returns what the process has now. Takes some nanoseconds for each page that is not huge.
MemoryCensus count_memory(pid_t process);

// Returns the bytes of writable shared mappings, by the lines of /proc/PID/maps. Leaves out devices
// and what the kernel maps for its own interfaces.
std::uint64_t shared_mapping_bytes(const std::vector<std::string>& maps);

}  // namespace huddle::threads
