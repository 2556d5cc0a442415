// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/process_watch.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "common/pidfd.h"

namespace huddle::team {
namespace {

// Zeros if nothing is open.
struct stat status_of(int file) {
  struct stat status {};
  fstat(file, &status);
  return status;
}

}  // namespace

ProcessWatch::ProcessWatch(FileDescriptor pidfd, const ProcessIdentity& process)
    : process_(process), pidfd_(std::move(pidfd)) {
  const struct stat status = status_of(pidfd_.number());
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

ProcessWatch::~ProcessWatch() {
  if (pidfd_.is_open() && !is_ours()) pidfd_.release();
}

int ProcessWatch::pidfd() const {
  const std::scoped_lock lock(mutex_);
  return usable_pidfd();
}

bool ProcessWatch::is_dead() const {
  const std::scoped_lock lock(mutex_);
  if (!huddle::is_dead(usable_pidfd())) return has_died_;
  // Before Linux 6.9 a pidfd that the program has opened looks like ours.
  has_died_ = !is_running(process_).value_or(false);
  if (!has_died_) open_again();
  return has_died_;
}

int ProcessWatch::usable_pidfd() const {
  if (device_ != 0 && !is_ours()) open_again();
  return pidfd_.number();
}

bool ProcessWatch::is_ours() const {
  const struct stat status = status_of(pidfd_.number());
  return status.st_dev == device_ && status.st_ino == inode_;
}

// The process is held before it is identified: its number may be given to another process.
void ProcessWatch::open_again() const {
  pidfd_.release();
  if (has_died_ || !share_process_ids(ProcessIdentity::mine(), process_)) return;
  FileDescriptor opened(static_cast<int>(syscall(SYS_pidfd_open, process_.pid, 0)));
  if (!opened.is_open()) {
    has_died_ = errno == ESRCH;
    return;
  }
  const std::optional<bool> is_alive = is_running(process_);
  has_died_ = is_alive == false;
  if (is_alive != true) return;
  pidfd_ = std::move(opened);
  const struct stat status = status_of(pidfd_.number());
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

}  // namespace huddle::team
