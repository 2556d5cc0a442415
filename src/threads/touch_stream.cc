// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/touch_stream.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace huddle::threads {

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

TouchStream::TouchStream(Listener& listener)
    : listener_(listener),
      start_ns_(now_ns()),
      page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {}

std::uint64_t TouchStream::space_of(pid_t process) {
  constexpr unsigned page_number_bits = 52;
  return spaces_.try_emplace(process, spaces_.size()).first->second << page_number_bits;
}

void TouchStream::pass(const std::vector<PageFaults*>& faults,
                       const std::vector<pid_t>& processes) {
  batch_.clear();
  for (PageFaults* const one : faults) one->drain(batch_);
  if (faults.size() > 1) {
    std::stable_sort(batch_.begin(), batch_.end(),
                     [](const PageFault& a, const PageFault& b) { return a.time_ns < b.time_ns; });
  }
  for (const PageFault& fault : batch_) {
    if (std::find(processes.begin(), processes.end(), fault.process) == processes.end()) continue;
    int thread = threads_.number_of(fault.thread);
    if (thread < 0) {
      threads_.look(processes);
      thread = threads_.number_of(fault.thread);
    }
    if (thread < 0) continue;  // gone before anybody could look
    ++touches_;
    const std::uint64_t page = fault.address / page_bytes_ + space_of(fault.process);
    listener_.take(Touch{in_order(fault.time_ns), thread, page, true});
  }
}

Listener::Wish TouchStream::look(const std::vector<pid_t>& processes) {
  return listener_.take(Look{in_order(now_ns()), threads_.look(processes)});
}

double TouchStream::seconds() const { return static_cast<double>(now_ns() - start_ns_) * 1e-9; }

// Rings are read one after the other, while faults go on: what comes late is told as of now.
std::uint64_t TouchStream::in_order(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns - std::min(start_ns_, time_ns));
  return last_ns_;
}

}  // namespace huddle::threads
