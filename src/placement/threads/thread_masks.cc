// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/thread_masks.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include "common/other_processes.h"
#include "common/system.h"

namespace huddle::threads {
namespace {

// Upper bound of CPU numbers: the kernel rejects a set that is smaller than its own.
constexpr int most_processors = 8192;

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using Set = std::unique_ptr<cpu_set_t, FreeSet>;

std::size_t set_bytes() { return CPU_ALLOC_SIZE(most_processors); }

Set empty_set() {
  Set set(CPU_ALLOC(most_processors));
  CPU_ZERO_S(set_bytes(), set.get());
  return set;
}

// Returns the contents of /proc/PID/stat, or an empty string.
std::string stat_line(pid_t number) {
  return System().read(fmt::format("/proc/{}/stat", number)).value_or("");
}

std::vector<pid_t> numbers_in(const std::vector<std::string>& all) {
  std::vector<pid_t> numbers;
  for (const std::string& word : all) {
    if (const auto number = whole_number(word)) numbers.push_back(static_cast<pid_t>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

std::optional<machine::CpuSet> SystemMasks::mask(pid_t thread) const {
  const Set set = empty_set();
  if (::sched_getaffinity(thread, set_bytes(), set.get()) != 0) return std::nullopt;
  std::vector<int> processors;
  for (int processor = 0; processor < most_processors; ++processor) {
    if (CPU_ISSET_S(static_cast<std::size_t>(processor), set_bytes(), set.get())) {
      processors.push_back(processor);
    }
  }
  return machine::CpuSet(std::move(processors));
}

int SystemMasks::set_mask(pid_t thread, const machine::CpuSet& processors) {
  const Set set = empty_set();
  for (const int processor : processors) {
    if (processor < most_processors) {
      CPU_SET_S(static_cast<std::size_t>(processor), set_bytes(), set.get());
    }
  }
  return ::sched_setaffinity(thread, set_bytes(), set.get()) == 0 ? 0 : errno;
}

std::uint64_t SystemMasks::born(pid_t number) const {
  return process_status(stat_line(number)).value_or(ProcessStatus{}).start_time;
}

std::vector<pid_t> SystemMasks::threads_of(pid_t process) const {
  return numbers_in(System().list(fmt::format("/proc/{}/task", process)));
}

std::vector<pid_t> SystemMasks::children_of(pid_t process) const {
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(process)) {
    const auto text = System().read(fmt::format("/proc/{}/task/{}/children", process, thread));
    for (const pid_t child : numbers_in(words(text.value_or("")))) children.push_back(child);
  }
  return children;
}

pid_t SystemMasks::parent_of(pid_t process) const {
  constexpr std::size_t parent = 1;
  const std::vector<std::string> status = fields_behind_name(stat_line(process));
  return status.size() > parent ? static_cast<pid_t>(whole_number(status[parent]).value_or(0)) : 0;
}

bool is_running(const Identity& process) {
  const auto status = process_status(stat_line(process.number));
  if (!status || process.born == 0 || status->start_time != process.born) return false;
  return status->state != 'Z' && status->state != 'X';
}

Identity own_identity() { return {::getpid(), SystemMasks().born(::getpid())}; }

using machine::CpuSet;
using machine::Topology;

CpuSet cores_of(const Topology& topology, const CpuSet& processors) {
  CpuSet all = processors;
  const machine::Level* const cores = find_level(topology, "core");
  if (cores == nullptr) return all;
  for (const CpuSet& core : cores->groups) {
    if (core.intersects(processors)) all = united(all, core);
  }
  return all;
}

// A decision assigns one thread per hardware thread, so a group has room for its threads.
CpuSet seat_mask(const Topology& topology, const CpuSet& usable, int processor, Binding binding) {
  CpuSet core = common(cores_of(topology, CpuSet({processor})), usable);
  switch (binding) {
    case Binding::core:
      return core;
    case Binding::group:
      break;
  }
  for (const machine::Level& level : topology.levels) {
    const auto group = std::find_if(level.groups.begin(), level.groups.end(),
                                    [&](const CpuSet& one) { return one.contains(processor); });
    if (group == level.groups.end()) continue;
    CpuSet part = common(*group, usable);
    if (!core.contains(part)) return part;
  }
  return core;
}

}  // namespace huddle::threads
