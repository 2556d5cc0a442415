// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/touch_stream.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <optional>

namespace huddle::threads {
namespace {

double clock_s(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<pid_t> threads_of(const System& system, pid_t process) {
  std::vector<pid_t> threads;
  for (const std::string& name : system.list(fmt::format("/proc/{}/task", process))) {
    if (const auto number = whole_number(name)) threads.push_back(static_cast<pid_t>(*number));
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

// Returns the fields of /proc/PID/task/TID/stat after the name, which may contain any character.
std::vector<std::string> fields_behind_name(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos ? std::vector<std::string>() : words(stat.substr(end + 1));
}

// Uses nanoseconds if the kernel provides them, otherwise clock ticks.
std::uint64_t cpu_ns(const System& system, const std::string& folder,
                     const std::vector<std::string>& stat) {
  constexpr std::size_t user_ticks = 11, system_ticks = 12;
  if (const auto exact = system.read(folder + "/schedstat")) {
    const std::vector<std::string> fields = words(*exact);
    if (!fields.empty()) return static_cast<std::uint64_t>(whole_number(fields[0]).value_or(0));
  }
  const long long ticks =
      whole_number(stat[user_ticks]).value_or(0) + whole_number(stat[system_ticks]).value_or(0);
  return static_cast<std::uint64_t>(ticks) * 1'000'000'000U /
         static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

void ThreadList::free_numbers(const std::vector<pid_t>& processes) {
  if (reuse_ == Numbers::kept) return;
  for (pid_t& owner : owners_) {
    if (std::find(processes.begin(), processes.end(), owner) == processes.end()) owner = 0;
  }
}

int ThreadList::next_number(pid_t process, std::string name) {
  const auto unused = std::find(owners_.begin(), owners_.end(), 0);
  const auto number = static_cast<std::size_t>(unused - owners_.begin());
  if (unused != owners_.end()) {
    *unused = process;
    names_[number] = std::move(name);
    reused_.push_back(static_cast<int>(number));
  } else if (number < most_threads) {
    owners_.push_back(process);
    names_.push_back(std::move(name));
  } else {
    return -1;
  }
  return static_cast<int>(number);
}

std::vector<ThreadUse> ThreadList::look(const std::vector<pid_t>& processes) {
  constexpr std::size_t processor = 36, fields_needed = 37;
  std::vector<ThreadUse> uses;
  std::map<pid_t, int> alive;
  processes_.clear();
  free_numbers(processes);
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(system_, process)) {
      const std::string folder = fmt::format("/proc/{}/task/{}", process, thread);
      const auto stat = system_.read(folder + "/stat");
      const auto fields = stat ? fields_behind_name(*stat) : std::vector<std::string>();
      if (fields.size() < fields_needed) continue;  // ended in the meantime
      const auto known = numbers_.find(thread);
      int number = known == numbers_.end() ? -1 : known->second;
      if (number < 0) number = next_number(process, system_.read(folder + "/comm").value_or("?"));
      if (number < 0) continue;
      alive.emplace(thread, number);
      processes_.emplace(thread, process);
      uses.push_back({number, cpu_ns(system_, folder, fields),
                      static_cast<int>(whole_number(fields[processor]).value_or(0))});
    }
  }
  numbers_ = std::move(alive);
  return uses;
}

int ThreadList::number_of(pid_t thread) const {
  const auto found = numbers_.find(thread);
  return found == numbers_.end() ? -1 : found->second;
}

double process_cpu_s(pid_t process) {
  clockid_t clock{};
  return ::clock_getcpuclockid(process, &clock) == 0 ? clock_s(clock) : 0;
}

double own_cpu_s() { return clock_s(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

TouchStream::TouchStream(TouchObserver& observer, Numbers numbers)
    : observer_(observer),
      threads_(numbers),
      counters_(memory_line_event(System().read("/proc/cpuinfo").value_or(""))),
      start_ns_(now_ns()),
      page_bytes_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) {}

// The identifiers wrap around after 2^12 processes; the table has forgotten the pages of the first
// one by then.
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
    if (thread < 0) continue;  // ended before it could be read
    ++touches_;
    const std::uint64_t page = fault.address / page_bytes_ + spaces_.of(fault.process);
    observer_.take(Touch{in_order(fault.time_ns), thread, page, true});
  }
}

TouchObserver::Actions TouchStream::look(const std::vector<pid_t>& processes) {
  spaces_.keep(processes);
  Look look{in_order(now_ns()), threads_.look(processes)};
  look.reused = threads_.take_reused();
  counters_.keep(threads_.alive());
  std::map<int, std::optional<std::uint64_t>> bytes;
  for (const auto& [thread, number] : threads_.alive()) bytes[number] = counters_.bytes(thread);
  for (ThreadUse& use : look.threads) use.memory_bytes = bytes[use.thread];
  return observer_.take(look);
}

double TouchStream::seconds() const { return static_cast<double>(now_ns() - start_ns_) * 1e-9; }

// Rings are read one after the other while faults continue: late ones get the last event's time.
std::uint64_t TouchStream::in_order(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns - std::min(start_ns_, time_ns));
  return last_ns_;
}

}  // namespace huddle::threads
