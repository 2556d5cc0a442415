// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/process_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/other_processes.h"
#include "common/system.h"

namespace huddle::team {
namespace {

std::uint64_t own_pid_namespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

// The boot id is a random UUID; its first 16 hexadecimal digits suffice to distinguish machines.
std::uint64_t this_machine() {
  const auto text = System().read("/proc/sys/kernel/random/boot_id");
  std::uint64_t number = 0;
  int digits = 0;
  for (const char letter : text.value_or("")) {
    const auto digit = std::string("0123456789abcdef").find(letter);
    if (digit == std::string::npos || digits++ >= 16) continue;
    number = number << 4 | digit;
  }
  return number;
}

std::optional<ProcessStatus> status_of(std::string_view process) {
  const auto line = System().read(fmt::format("/proc/{}/stat", process));
  return line ? process_status(*line) : std::nullopt;
}

}  // namespace

ProcessIdentity ProcessIdentity::mine() {
  return {this_machine(), own_pid_namespace(),
          status_of("self").value_or(ProcessStatus{}).start_time,
          static_cast<std::uint32_t>(getpid()), geteuid()};
}

bool share_process_ids(const ProcessIdentity& one, const ProcessIdentity& other) {
  // The initial pid namespace has the same inode number on every machine.
  return one.machine != 0 && one.machine == other.machine && one.pid_namespace != 0 &&
         one.pid_namespace == other.pid_namespace;
}

std::optional<bool> is_running(const ProcessIdentity& process) {
  if (process.start_time == 0 || !share_process_ids(ProcessIdentity::mine(), process)) {
    return std::nullopt;
  }
  const auto status = status_of(std::to_string(process.pid));
  if (!status) return std::nullopt;
  return status->start_time == process.start_time && !status->has_ended();
}

bool is_same_process(const ProcessIdentity& one, const ProcessIdentity& other) {
  return one.machine != 0 && one.pid_namespace != 0 && one.start_time != 0 && one == other;
}

bool on_two_machines(const ProcessIdentity& one, const ProcessIdentity& other) {
  return one.machine != 0 && other.machine != 0 && one.machine != other.machine;
}

namespace {

// Returns zeros if the descriptor is not open.
struct stat status_of(int file) {
  struct stat status {};
  fstat(file, &status);
  return status;
}

}  // namespace

ProcessWatch::ProcessWatch(FileDescriptor descriptor, const ProcessIdentity& process)
    : process_(process), descriptor_(std::move(descriptor)) {
  const struct stat status = status_of(descriptor_.number());
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

ProcessWatch::~ProcessWatch() {
  if (descriptor_.is_open() && !is_ours()) descriptor_.release();
}

int ProcessWatch::descriptor() const {
  const std::scoped_lock lock(mutex_);
  return usable_descriptor();
}

bool ProcessWatch::is_dead() const {
  const std::scoped_lock lock(mutex_);
  if (!huddle::is_dead(usable_descriptor())) return has_died_;
  // Before Linux 6.9 all pidfds share one inode, so a pidfd of the application passes is_ours().
  has_died_ = !is_running(process_).value_or(false);
  if (!has_died_) open_again();
  return has_died_;
}

int ProcessWatch::usable_descriptor() const {
  if (device_ != 0 && !is_ours()) open_again();
  return descriptor_.number();
}

bool ProcessWatch::is_ours() const {
  const struct stat status = status_of(descriptor_.number());
  return status.st_dev == device_ && status.st_ino == inode_;
}

// Opens the descriptor before it checks the identity, because the process id may have been reused.
void ProcessWatch::open_again() const {
  descriptor_.release();
  if (has_died_ || !share_process_ids(ProcessIdentity::mine(), process_)) return;
  FileDescriptor opened = open_process(static_cast<pid_t>(process_.pid));
  if (!opened.is_open()) {
    has_died_ = errno == ESRCH;
    return;
  }
  const std::optional<bool> is_alive = is_running(process_);
  has_died_ = is_alive == false;
  if (is_alive != true) return;
  descriptor_ = std::move(opened);
  const struct stat status = status_of(descriptor_.number());
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

}  // namespace huddle::team
