// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/touch_stream.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <optional>

#include "common/other_processes.h"

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

int ThreadList::next_number(std::string name, NewNumbers numbers) {
  const std::size_t next = names_.size();
  const bool is_full = next >= static_cast<std::size_t>(most_threads);
  const bool may_reuse = numbers == NewNumbers::any && (is_full || reuse_ == Numbers::reused);
  if (!free_.empty() && may_reuse) {
    const int number = free_.back();
    free_.pop_back();
    names_[static_cast<std::size_t>(number)] = std::move(name);
    reused_.insert(number);
    return number;
  }
  if (is_full) return -1;
  names_.push_back(std::move(name));
  return static_cast<int>(next);
}

std::vector<int> ThreadList::take_reused() {
  std::vector<int> reused(reused_.begin(), reused_.end());
  reused_.clear();
  return reused;
}

std::vector<ThreadUse> ThreadList::look(const std::vector<pid_t>& processes) {
  return look(processes, NewNumbers::any);
}

std::vector<ThreadUse> ThreadList::look(const std::vector<pid_t>& processes, NewNumbers numbers) {
  constexpr std::size_t processor = 36, fields_needed = 37;
  struct State {
    pid_t process, thread;
    std::string folder;
    ThreadUse use;
  };
  std::vector<State> states;
  processes_.clear();
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(system_, process)) {
      const std::string folder = fmt::format("/proc/{}/task/{}", process, thread);
      const auto stat = system_.read(folder + "/stat");
      const auto fields = stat ? fields_behind_name(*stat) : std::vector<std::string>();
      if (fields.size() < fields_needed) continue;  // ended in the meantime
      const int on = static_cast<int>(whole_number(fields[processor]).value_or(0));
      states.push_back({process, thread, folder, {-1, cpu_ns(system_, folder, fields), on}});
      processes_.emplace(thread, process);
    }
  }
  // The numbers of ended threads become free before new threads get theirs.
  std::map<pid_t, int> before = std::exchange(numbers_, {});
  for (const State& one : states) {
    if (const auto known = before.extract(one.thread)) {
      numbers_.emplace(one.thread, known.mapped());
    }
  }
  for (const auto& [thread, number] : before) free_.push_back(number);
  std::vector<ThreadUse> uses;
  for (State& one : states) {
    const auto known = numbers_.find(one.thread);
    const int number = known != numbers_.end()
                           ? known->second
                           : next_number(system_.read(one.folder + "/comm").value_or("?"), numbers);
    if (number < 0) {
      processes_.erase(one.thread);
      continue;
    }
    numbers_.emplace(one.thread, number);
    one.use.thread = number;
    uses.push_back(one.use);
  }
  return uses;
}

void ThreadList::begin_pass() {
  has_looked_ = false;
  missing_.clear();
}

int ThreadList::find(pid_t process, pid_t thread, const std::vector<pid_t>& processes) {
  const int known = number_of(thread);
  if (known >= 0 || missing_.contains(thread)) return known;
  // The observer learns of reused numbers by the next look only, so threads that need one wait for
  // it: their touches would be counted for the threads that had the numbers before.
  const bool has_numbers = names_.size() < static_cast<std::size_t>(most_threads) &&
                           (free_.empty() || reuse_ != Numbers::reused);
  // A single read is enough to recognize a thread that has ended.
  if (has_numbers && !has_looked_ &&
      system_.read(fmt::format("/proc/{}/task/{}/stat", process, thread))) {
    look(processes, NewNumbers::unused);
    has_looked_ = true;
  }
  const int found = number_of(thread);
  if (found < 0) missing_.insert(thread);
  return found;
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
  threads_.begin_pass();
  for (const PageFault& fault : batch_) {
    if (std::find(processes.begin(), processes.end(), fault.process) == processes.end()) continue;
    const int thread = threads_.find(fault.process, fault.thread, processes);
    if (thread < 0) continue;  // ended before it could be read
    ++touches_;
    observer_.take(Touch{.time_ns = in_order(fault.time_ns),
                         .thread = thread,
                         .page = fault.address / page_bytes_ + spaces_.of(fault.process),
                         .offset = static_cast<std::uint16_t>(fault.address % page_bytes_),
                         .process = fault.process});
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
