// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "common/error.h"
#include "common/system.h"
#include "placement/threads/kept_state.h"

namespace huddle::threads {
namespace {

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw FailureError(
      fmt::format("cannot write to {} ({}): the CPU affinity of the threads could not be saved",
                  path, std::strerror(error)));
}

// Returns whether the open folder still has this name, and was not removed or replaced.
bool has_name(int folder, const std::string& path) {
  struct stat by_name {
  }, by_descriptor{};
  return ::stat(path.c_str(), &by_name) == 0 && ::fstat(folder, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

SavedState kept_in(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_kept_state(text_in(file.number()));
}

bool is_left_behind(const SavedState& kept) {
  return !is_running(kept.agent) && !is_running(kept.guardian);
}

}  // namespace

std::string usual_state_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && is_own_folder(runtime)) {
    return std::string(runtime) + "/huddle";
  }
  return ::geteuid() == 0 ? machine_state_folder : fmt::format("/dev/shm/huddle-{}", ::geteuid());
}

StateFolder::Lock::~Lock() {
  if (folder_.is_open()) ::rmdir(path_.c_str());  // fails unless the folder is empty
}

std::optional<StateFolder::Lock> StateFolder::try_lock() const {
  constexpr mode_t for_us_alone = 0700;
  for (;;) {
    if (::mkdir(path_.c_str(), for_us_alone) != 0 && errno != EEXIST) fail(path_, errno);
    constexpr int as_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    FileDescriptor folder(::open(path_.c_str(), as_folder));
    if (!folder.is_open()) {
      if (errno == ENOENT) continue;  // another process has just removed it
      fail(path_, errno);
    }
    if (::flock(folder.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return std::nullopt;
      fail(path_, errno);
    }
    if (!has_name(folder.number(), path_)) continue;
    if (!is_own_folder(path_)) fail(path_, EPERM);
    return Lock(path_, std::move(folder));
  }
}

StateFolder::Lock StateFolder::lock(std::chrono::milliseconds patience) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  // Polls because a blocking flock() has no timeout. The lock is never held for long.
  constexpr std::chrono::microseconds between_tries{200};
  for (;;) {
    if (std::optional<Lock> lock = try_lock()) return std::move(*lock);
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(between_tries);
  }
  throw FailureError(fmt::format(
      "{0} is locked by another huddle that does not continue: 'fuser -v {0}' shows the process",
      path_));
}

bool StateFolder::exists() const { return is_own_folder(path_); }

std::vector<std::string> StateFolder::files() const {
  std::vector<std::string> all;
  for (const std::string& name : System().list(path_)) all.push_back(path_ + "/" + name);
  return all;
}

std::vector<SavedState> StateFolder::living() const {
  std::vector<SavedState> all;
  for (const std::string& file : files()) {
    SavedState kept = kept_in(file);
    if (!is_left_behind(kept)) all.push_back(std::move(kept));
  }
  return all;
}

int StateFolder::restore_values(const SavedState& kept) const {
  if (kept.values.empty()) return 0;
  int changed = 0;
  const std::vector<SavedState> all = living();
  for (const auto& one : kept.values) {
    const std::string& path = one.first;
    const KeptValue& value = one.second;
    const bool is_wanted = std::any_of(all.begin(), all.end(), [&](const SavedState& other) {
      const auto found = other.values.find(path);
      return other.agent != kept.agent && found != other.values.end() &&
             found->second.set == value.set;
    });
    if (is_wanted || kernel_value(path) != value.set) continue;
    if (set_kernel_value(path, value.before)) ++changed;
  }
  return changed;
}

Repaired StateFolder::repair(ThreadMasks& masks) const {
  Repaired repaired;
  if (!exists()) return repaired;
  const Lock lock = this->lock();
  for (const std::string& file : files()) {
    const SavedState kept = kept_in(file);
    if (!is_left_behind(kept)) continue;
    repaired.threads += restore(kept, masks);
    repaired.values += restore_values(kept);
    ::unlink(file.c_str());
  }
  return repaired;
}

StateFile::StateFile(const StateFolder& folder, const Identity& agent, std::string_view kind)
    : path_(fmt::format("{}/{}-{}-{}", folder.path(), kind, agent.number, agent.born)),
      file_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (!file_.is_open()) fail(path_, errno);
  if (!add(agent_line(agent))) {
    const int why = errno;
    remove();
    fail(path_, why);
  }
}

// Appends all or nothing: a partial line would make readers stop there.
bool StateFile::add(std::string_view line) {
  struct stat before {};
  if (::fstat(file_.number(), &before) != 0) return false;
  const ssize_t written = ::write(file_.number(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return true;
  const int why = written < 0 ? errno : ENOSPC;
  if (written > 0 && ::ftruncate(file_.number(), before.st_size) != 0) file_ = FileDescriptor();
  errno = why;
  return false;
}

bool StateFile::is_there() const { return ::access(path_.c_str(), F_OK) == 0; }

void StateFile::remove() const { ::unlink(path_.c_str()); }

std::string text_in(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got =
        ::pread(descriptor, chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Repaired repair_what_was_left() {
  Repaired all;
  std::set<std::string> folders = {usual_state_folder()};
  if (::geteuid() == 0) folders.insert(machine_state_folder);
  for (const std::string& folder : folders) {
    try {
      SystemMasks masks;
      const Repaired one = StateFolder(folder).repair(masks);
      all.threads += one.threads;
      all.values += one.values;
    } catch (const Error&) {
      continue;
    }
  }
  return all;
}

}  // namespace huddle::threads
