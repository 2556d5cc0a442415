// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts the data that threads fetch from memory, by the processor's performance counters.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/file.h"

namespace huddle::threads {

// An event of perf_event_open() that occurs once per cache line fetched from memory.
struct LineEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;

  bool operator==(const LineEvent&) const = default;
};

// Returns the event of the processor that this /proc/cpuinfo describes. Nothing if its events of
// cores also count lines from a cache that cores share, which do not show the
// traffic from memory.
std::optional<LineEvent> memory_line_event(std::string_view cpuinfo);

class MemoryCounters {
 public:
  explicit MemoryCounters(std::optional<LineEvent> event) : event_(event) {}

  // Returns the bytes that the thread fetched since the first call for it. Nothing if the system
  // does not count them, as on most virtual machines.
  std::optional<std::uint64_t> bytes(pid_t thread);
  // Stops counting for threads that are not in `alive`.
  void keep(const std::map<pid_t, int>& alive);
  // Returns whether every thread was counted so far, and there was at least one.
  bool works() const { return event_ && has_counted_ && !has_failed_; }

 private:
  std::optional<LineEvent> event_;
  std::map<pid_t, FileDescriptor> counters_;
  bool has_counted_ = false, has_failed_ = false;
};

}  // namespace huddle::threads
