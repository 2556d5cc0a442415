// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/system.h"

namespace huddle::threads {
namespace {

bool is_own_folder(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw FailureError(
      fmt::format("{}: cannot be written to ({}): what threads had could not be kept there", path,
                  std::strerror(error)));
}

// The one that has this name, and not one that somebody has removed since it was opened.
bool has_name(int folder, const std::string& path) {
  struct stat by_name {
  }, by_descriptor{};
  return ::stat(path.c_str(), &by_name) == 0 && ::fstat(folder, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

KeptMasks kept_in(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_kept_masks(text_in(file.number()));
}

bool is_left_behind(const KeptMasks& kept) {
  return !is_running(kept.agent) && !is_running(kept.guardian);
}

}  // namespace

std::string usual_state_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && is_own_folder(runtime)) {
    return std::string(runtime) + "/huddle";
  }
  return ::geteuid() == 0 ? "/run/huddle" : fmt::format("/dev/shm/huddle-{}", ::geteuid());
}

StateFolder::Lock::~Lock() {
  if (folder_.is_open()) ::rmdir(path_.c_str());  // not while there is something in it
}

StateFolder::Lock StateFolder::lock() const {
  constexpr mode_t for_us_alone = 0700;
  for (;;) {
    if (::mkdir(path_.c_str(), for_us_alone) != 0 && errno != EEXIST) fail(path_, errno);
    FileDescriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) {
      if (errno == ENOENT) continue;  // somebody has just removed it
      fail(path_, errno);
    }
    int locked = 0;
    do {
      locked = ::flock(folder.number(), LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0) fail(path_, errno);
    if (!has_name(folder.number(), path_)) continue;
    if (!is_own_folder(path_)) fail(path_, EPERM);
    return {path_, std::move(folder)};
  }
}

bool StateFolder::exists() const { return is_own_folder(path_); }

std::vector<std::string> StateFolder::files() const {
  std::vector<std::string> all;
  for (const std::string& name : System().list(path_)) all.push_back(path_ + "/" + name);
  return all;
}

std::vector<KeptMasks> StateFolder::living() const {
  std::vector<KeptMasks> all;
  for (const std::string& file : files()) {
    KeptMasks kept = kept_in(file);
    if (!is_left_behind(kept)) all.push_back(std::move(kept));
  }
  return all;
}

int StateFolder::repair(ThreadMasks& masks) const {
  if (!exists()) return 0;
  const Lock lock = this->lock();
  int changed = 0;
  for (const std::string& file : files()) {
    const KeptMasks kept = kept_in(file);
    if (!is_left_behind(kept)) continue;
    changed += give_back(kept, masks);
    ::unlink(file.c_str());
  }
  return changed;
}

StateFile::StateFile(const StateFolder& folder, const Identity& agent)
    : path_(fmt::format("{}/agent-{}-{}", folder.path(), agent.number, agent.born)),
      file_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
  if (!file_.is_open()) fail(path_, errno);
  if (!add(agent_line(agent))) {
    remove();
    fail(path_, errno);
  }
}

bool StateFile::add(std::string_view line) const {
  return ::write(file_.number(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

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

int repair_what_was_left() {
  try {
    SystemMasks masks;
    return StateFolder(usual_state_folder()).repair(masks);
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace huddle::threads
