// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/numa_balancing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/system.h"
#include "common/text.h"
#include "placement/threads/kept_state.h"

namespace huddle::threads {
namespace {

// One bit of the sysctl. The other bit concerns memory tiers and is not changed.
constexpr long long balancing_bit = 1;
// The kernel's default is 1000: one round per second of CPU time, which needs a minute to
// distinguish pairs.
constexpr long long wanted_period_ms = 100;
// The other half is for the agent's own time and for write protection, which NUMA balancing does
// not reduce.
constexpr double share_of_budget = 0.5;
// NUMA balancing is resumed below this fraction of the budget. Each switch patches kernel code on
// all cores and should be rare.
constexpr double share_to_resume = 0.9;

// The kernel's inode number of the initial namespace (PROC_PID_INIT_INO).
constexpr std::string_view first_pid_namespace = "pid:[4026531836]";

bool is_first_pid_namespace(const std::string& link) {
  std::error_code error;
  return std::filesystem::read_symlink(link, error) == first_pid_namespace;
}

}  // namespace

std::uint64_t hinting_faults(const std::string& counters) {
  for (const std::string& line : System().lines(counters)) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() != 2 || fields[0] != "numa_hint_faults") continue;
    return static_cast<std::uint64_t>(whole_number(fields[1]).value_or(0));
  }
  return 0;
}

NumaBalancing::NumaBalancing(const std::string& folder, Files files)
    : folder_(folder), files_(std::move(files)) {
  own_.agent = own_identity();
  if (!kernel_value(files_.sysctl)) throw FailureError("this kernel has no NUMA balancing");
  if (!is_first_pid_namespace(files_.pid_namespace)) {
    throw FailureError(
        "NUMA balancing cannot be turned on inside a container, because the end of the container "
        "would also end the process that restores it");
  }
  SystemMasks masks;
  folder_.repair(masks);
  faults_before_ = hinting_faults(files_.counters);
  const StateFolder::Lock lock = folder_.lock();
  try {
    turn_on(folder_.living());
  } catch (const Error&) {
    folder_.restore_values(own_);
    if (file_) file_->remove();
    throw;
  }
}

// Records the original value of a setting. If another agent has set it, that is the value from
// before the first agent, unless another program has changed the setting since. A setting that
// already has the wanted value without any agent is not recorded and stays.
void NumaBalancing::keep(const std::vector<SavedState>& others, const std::string& path,
                         long long wanted) {
  const long long now = kernel_value(path).value_or(wanted);
  for (const SavedState& other : others) {
    const auto found = other.values.find(path);
    if (found == other.values.end()) continue;
    if (now != found->second.set && now != found->second.before) continue;
    own_.values.insert(*found);
    return;
  }
  if (now != wanted) own_.values.emplace(path, KeptValue{path, now, wanted});
}

void NumaBalancing::turn_on(const std::vector<SavedState>& others) {
  const long long now = kernel_value(files_.sysctl).value_or(0);
  keep(others, files_.sysctl, now | balancing_bit);
  if (const auto period_ms = kernel_value(files_.scan_period_ms)) {
    keep(others, files_.scan_period_ms, std::min(*period_ms, wanted_period_ms));
  }
  if (own_.values.empty()) return;
  file_ = std::make_unique<StateFile>(folder_, own_.agent, "balancing");
  guardian_ = std::make_unique<Guardian>(folder_, *file_);
  std::string lines = guardian_line(guardian_->identity());
  for (const auto& [path, value] : own_.values) lines += value_line(value);
  if (!file_->add(lines)) {
    throw FailureError(fmt::format("cannot write to {} ({}), so nothing was changed", file_->path(),
                                   std::strerror(errno)));
  }
  for (const auto& [path, value] : own_.values) {
    if (set_kernel_value(path, value.set) || path != files_.sysctl) continue;
    throw FailureError(fmt::format("cannot set {} ({})", path, std::strerror(errno)));
  }
}

NumaBalancing::~NumaBalancing() { end(); }

// Restores the values, then removes the file, then ends the guardian, which has nothing to do.
void NumaBalancing::end() {
  if (!file_) return;
  try {
    const StateFolder::Lock lock = folder_.lock();
    folder_.restore_values(own_);
    file_->remove();
  } catch (const Error&) {
    folder_.restore_values(own_);
    file_->remove();
  }
  file_.reset();
  guardian_.reset();
}

bool NumaBalancing::is_needed_by_others() const {
  const std::vector<SavedState> all = folder_.living();
  return std::any_of(all.begin(), all.end(), [this](const SavedState& other) {
    return other.agent != own_.agent && !other.values.empty();
  });
}

// Does not change a setting that another program has changed in the meantime. If NUMA balancing was
// on before, only the length of its rounds is restored.
void NumaBalancing::set_paused(bool paused) {
  // Another agent may have turned it on again and ended.
  if (!file_ || (!paused && !is_paused_)) return;
  try {
    const std::optional<StateFolder::Lock> lock = folder_.try_lock();
    if (!lock) return;  // retried at the next call
    if (paused && is_needed_by_others()) return;
    for (const auto& [path, value] : own_.values) {
      if (kernel_value(path) != (paused ? value.set : value.before)) continue;
      set_kernel_value(path, paused ? value.before : value.set);
    }
  } catch (const Error&) {
    return;
  }
  if (paused && !is_paused_) ++pauses_;
  is_paused_ = paused;
}

void NumaBalancing::account(std::uint64_t seen, const Budget& budget, Spent& spent) {
  if (guardian_ && !guardian_->is_alive()) {
    lost_guardian_ = true;
    end();
  }
  const std::uint64_t all = hinting_faults(files_.counters);
  const std::uint64_t made = std::min(seen, all - std::min(faults_before_, all));
  faults_before_ = all;
  faults_ += made;
  spent.faults += made;
  const double cost_s = static_cast<double>(faults_) * budget.fault_s;
  const double most_s = share_of_budget * budget.share * spent.program_s;
  if (cost_s > most_s) set_paused(true);
  if (cost_s < share_to_resume * most_s) set_paused(false);
}

std::vector<std::string> NumaBalancing::notes() const {
  std::vector<std::string> all;
  const std::string made = counted(static_cast<long long>(faults_), "page fault");
  if (!own_.values.contains(files_.sysctl)) {
    all.push_back(fmt::format("NUMA balancing was on and caused {}", made));
  } else {
    all.push_back(fmt::format(
        "NUMA balancing was turned on for every program of this machine and caused {}", made));
  }
  if (pauses_ > 0) {
    all.push_back(fmt::format("{}, it was turned off until the program had used enough CPU time",
                              pauses_ == 1 ? "once" : fmt::format("{} times", pauses_)));
  }
  if (lost_guardian_) {
    all.emplace_back(
        "the process that restores NUMA balancing was killed: NUMA balancing was restored at that "
        "time");
  }
  return all;
}

}  // namespace huddle::threads
