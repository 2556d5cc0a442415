// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/memory_counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "common/system.h"
#include "common/text.h"

namespace huddle::threads {
namespace {

constexpr double line_bytes = 64;  // of all processors with such an event
// Leaves half of the usual limit of 1024 descriptors to the observation of page faults.
constexpr std::size_t most_counters = 512;

// Returns the first word after "name : " in /proc/cpuinfo.
std::string value_of(std::string_view cpuinfo, std::string_view name) {
  for (const std::string_view line : split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string_view::npos) continue;
    const std::vector<std::string> value = words(std::string(line.substr(colon + 1)));
    return value.empty() ? "" : value.front();
  }
  return "";
}

FileDescriptor open_counter(const LineEvent& event, pid_t thread) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = event.type;
  attr.config = event.config;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return FileDescriptor(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// Extrapolates if the counter was shared with other events in turns.
std::optional<std::uint64_t> read_counter(const FileDescriptor& counter) {
  std::array<std::uint64_t, 3> values{};  // events, time enabled, time running
  if (::read(counter.number(), values.data(), sizeof values) != sizeof values) return std::nullopt;
  const auto [events, enabled, running] = values;
  if (running == 0) {  // the thread has not run, or other events occupied all counters
    return enabled == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  return static_cast<std::uint64_t>(std::llround(
      static_cast<double>(events) * static_cast<double>(enabled) / static_cast<double>(running)));
}

}  // namespace

std::optional<LineEvent> memory_line_event(std::string_view cpuinfo) {
  const std::string vendor = value_of(cpuinfo, "vendor_id");
  if (vendor == "GenuineIntel") return LineEvent{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES};
  // Zen 3 and later: fills of the data cache from memory of any NUMA node (event 44, unit mask 48).
  // The generic event counts misses of the L2 cache instead.
  constexpr long long zen_3 = 0x19;
  constexpr std::uint64_t fills_from_memory = 0x4844;
  if (vendor == "AuthenticAMD" && whole_number(value_of(cpuinfo, "cpu family")) >= zen_3) {
    return LineEvent{PERF_TYPE_RAW, fills_from_memory};
  }
  return std::nullopt;
}

std::optional<std::uint64_t> MemoryCounters::bytes(pid_t thread) {
  if (!event_) return std::nullopt;
  auto counter = counters_.find(thread);
  if (counter == counters_.end() && counters_.size() < most_counters) {
    FileDescriptor opened = open_counter(*event_, thread);
    if (!opened.is_open() && errno == ESRCH) return std::nullopt;  // the thread has ended
    if (opened.is_open()) counter = counters_.emplace(thread, std::move(opened)).first;
  }
  const std::optional<std::uint64_t> lines =
      counter == counters_.end() ? std::nullopt : read_counter(counter->second);
  (lines ? has_counted_ : has_failed_) = true;
  if (!lines) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<double>(*lines) * line_bytes);
}

void MemoryCounters::keep(const std::map<pid_t, int>& alive) {
  std::erase_if(counters_, [&alive](const auto& one) { return !alive.contains(one.first); });
}

}  // namespace huddle::threads
