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

void TouchStream::pass(PageFaults& faults, const std::vector<pid_t>& processes) {
  batch_.clear();
  faults.drain(batch_);
  for (const PageFault& fault : batch_) {
    const auto place = std::find(processes.begin(), processes.end(), fault.process);
    if (place == processes.end()) continue;
    int thread = threads_.number_of(fault.thread);
    if (thread < 0) {
      threads_.look(processes);
      thread = threads_.number_of(fault.thread);
    }
    if (thread < 0) continue;  // gone before anybody could look
    ++touches_;
    // Pages of different processes are different pages.
    const auto space = static_cast<std::uint64_t>(place - processes.begin()) << 52U;
    listener_.take(
        Touch{in_order(fault.time_ns), thread, fault.address / page_bytes_ + space, true});
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
