// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/touch_stream.h"

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

TouchStream::TouchStream(Listener& listener, Numbers numbers)
    : listener_(listener),
      threads_(numbers),
      start_ns_(now_ns()),
      page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {}

// After so many processes as there are bits left numbers come again: the pages of the first ones
// have been forgotten by then.
std::uint64_t AddressSpaces::of(pid_t process) {
  constexpr unsigned page_number_bits = 52;
  const auto [found, is_new] = numbers_.try_emplace(process, next_);
  if (is_new) ++next_;
  return found->second << page_number_bits;
}

void AddressSpaces::keep(const std::vector<pid_t>& processes) {
  std::erase_if(numbers_, [&processes](const auto& one) {
    return std::find(processes.begin(), processes.end(), one.first) == processes.end();
  });
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
    const std::uint64_t page = fault.address / page_bytes_ + spaces_.of(fault.process);
    listener_.take(Touch{in_order(fault.time_ns), thread, page, true});
  }
}

Listener::Wish TouchStream::look(const std::vector<pid_t>& processes) {
  spaces_.keep(processes);
  Look look{in_order(now_ns()), threads_.look(processes)};
  look.reused = threads_.take_reused();
  return listener_.take(look);
}

double TouchStream::seconds() const { return static_cast<double>(now_ns() - start_ns_) * 1e-9; }

// Rings are read one after the other, while faults go on: what comes late is told as of now.
std::uint64_t TouchStream::in_order(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns - std::min(start_ns_, time_ns));
  return last_ns_;
}

}  // namespace huddle::threads
