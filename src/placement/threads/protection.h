// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Makes a program's writes visible: repeatedly write-protects some of its pages, so that the next
// write to each is a page fault of the writing thread. The kernel removes the protection at that
// fault itself (userfaultfd with WP_ASYNC, Linux 6.7); the program only loses time. Reads are not
// visible.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace huddle::threads {

// A range of virtual addresses, end exclusive.
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - start; }
  bool operator==(const AddressRange&) const = default;
};

// Parses the range of a line of /proc/PID/maps: "55d0c000-55d0e000".
AddressRange range_from(std::string_view text);

// Returns the ranges of /proc/PID/maps that the program may write to, except devices and shared
// mappings of files. Includes shared memory: the kernel protects its pages in this process only, so
// that writes of other processes to the same memory are not visible.
std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps);

// A moving sample of a program's memory: a window on the concatenation of all its ranges. Several
// passes are made over a window, so that each of its pages can be observed several times; then it
// moves on. Its size follows the number of pages that a call may protect.
class SampleWindow {
 public:
  // The window keeps its offset, as far as the new ranges reach, and starts with a first pass.
  void set_ranges(std::vector<AddressRange> ranges);

  // Returns the maximum number of pages that the next call may protect: `budget` or, in the first
  // pass, the number of pages that the window still lacks.
  int most_pages(int budget) const { return is_first_pass() ? wanted_pages_ - found_ : budget; }
  // Returns the next range to scan; nothing if the pass is complete.
  std::optional<AddressRange> next() const;
  // Records that `bytes` of that range have been scanned.
  void advance(std::uint64_t bytes) { at_ += bytes; }
  // Records the end of a call that has protected `pages` of at most `most_pages` pages.
  void finish_call(int pages, int most_pages);

  // The first pass extends the window until it contains enough pages. None of these was protected
  // before, so that they do not count as faults.
  bool is_first_pass() const { return pass_ == 0; }

 private:
  void finish_first_pass(int pages);
  void move_on();
  std::uint64_t end() const { return is_first_pass() ? all_bytes_ : length_; }

  std::vector<AddressRange> ranges_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t start_ = 0;   // of the window
  std::uint64_t length_ = 0;  // known after the first pass
  std::uint64_t at_ = 0;      // position of the current pass in the window
  int wanted_pages_ = 256;
  int found_ = 0;  // in the first pass
  int pass_ = 0;
  // In the passes after the first:
  int calls_ = 0;
  int pages_in_pass_ = 0;
  int empty_passes_ = 0;      // in a row
  double share_of_most_ = 0;  // sum over the calls of pages / most_pages
};

// Opens a userfaultfd of this process, as the helper does in a program. If that fails, the
// descriptor is not open and errno is set.
FileDescriptor open_userfaultfd();

// Returns the resident memory of a process; 0 if it cannot be read.
std::uint64_t resident_bytes(pid_t process);

class Protection {
 public:
  enum class HugePages {
    left_alone,  // the threads that share them are not observed
    split,       // split into small pages, which are observed one by one
  };
  // Uses the userfaultfd that the process has opened. The destructor ends all protection.
  Protection(pid_t process, FileDescriptor userfaultfd, HugePages huge = HugePages::left_alone);

  bool works() const { return pagemap_.is_open(); }
  // Updates the list of the program's memory. Returns false if the program has opened a userfaultfd
  // of its own: this object must then be destroyed, as memory can be registered only once.
  bool find_ranges();
  void watch_only(const AddressRange& range);
  // Protects pages of the sample that were written to since they were last protected, at most
  // `budget`. Returns the number of faults that these pages had.
  int rearm(int budget);

 private:
  struct Scan {
    int pages = 0;
    std::uint64_t bytes = 0;  // that have been scanned
  };
  Scan scan(const AddressRange& range, int most_pages) const;
  bool register_range(const AddressRange& range) const;

  pid_t process_;
  FileDescriptor userfaultfd_;
  FileDescriptor pagemap_;
  HugePages huge_;
  SampleWindow window_;
};

// Memory of a process whose sharing is not visible to write protection.
struct MemoryCensus {
  std::uint64_t resident_bytes = 0;  // all memory; reads of it are not observed
  std::uint64_t shared_bytes = 0;    // writable shared mappings of files
  std::uint64_t huge_bytes = 0;      // memory in huge pages

  // Keeps the larger value of each member.
  void keep_most(const MemoryCensus& other);
  bool operator==(const MemoryCensus&) const = default;
};

// Returns the current amounts. Takes a few nanoseconds per page that is not huge.
MemoryCensus count_memory(pid_t process);

// Returns the bytes of writable shared mappings of files in /proc/PID/maps, which are not observed.
// Leaves out shared memory, devices and kernel interfaces.
std::uint64_t file_mapping_bytes(const std::vector<std::string>& maps);

}  // namespace huddle::threads
