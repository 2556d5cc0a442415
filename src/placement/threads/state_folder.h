// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The folder in which each agent records, in a file of its own, what has to be restored. A lock
// ensures that no two agents claim the same hardware thread and that no start races with a repair.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "placement/threads/kept_state.h"

namespace huddle::threads {

// Returns $XDG_RUNTIME_DIR/huddle if this user owns that folder, else /run/huddle for root, else
// /dev/shm/huddle-UID.
std::string usual_state_folder();
// Kernel settings apply to the whole machine: agents that may change them, as root, share a folder.
inline constexpr const char* machine_state_folder = "/run/huddle";

// Numbers of masks and settings restored for agents that were killed together with their guardians.
struct Repaired {
  int threads = 0;  // threads with a changed mask
  int values = 0;   // kernel settings
};

class StateFolder {
 public:
  explicit StateFolder(std::string path) : path_(std::move(path)) {}

  // Exclusive lock on the folder. The destructor also removes the folder if it is empty.
  class Lock {
   public:
    Lock(std::string path, FileDescriptor folder)
        : path_(std::move(path)), folder_(std::move(folder)) {}
    ~Lock();
    Lock(Lock&&) = default;
    Lock& operator=(Lock&&) = delete;
    int folder() const { return folder_.number(); }

   private:
    std::string path_;
    FileDescriptor folder_;
  };
  // The lock is held only for the time to read a few files, unless its owner hangs. Twice this
  // value is less than the time that a program waits for its agent.
  static constexpr std::chrono::milliseconds usual_patience{4000};
  // Creates the folder and locks it. Throws FailureError if the folder belongs to another user, or
  // if the lock is not released in time.
  Lock lock(std::chrono::milliseconds patience = usual_patience) const;
  // Returns nothing if another process holds the lock.
  std::optional<Lock> try_lock() const;

  const std::string& path() const { return path_; }
  bool exists() const;

  // Returns the records of all agents that run, or whose guardian runs.
  // Requires: the lock is held.
  std::vector<SavedState> living() const;
  // Restores the kernel settings that this agent has changed, unless another running agent needs
  // them or their value has been changed since. Returns the number of restored settings.
  // Requires: the lock is held.
  int restore_values(const SavedState& kept) const;
  // Restores what agents left behind when they were killed together with their guardians, and
  // removes their files. Does nothing if there is no folder.
  Repaired repair(ThreadMasks& masks) const;

 private:
  std::vector<std::string> files() const;

  std::string path_;
};

// An agent's file. An agent that binds threads and changes kernel settings has two, the second in
// the machine's folder.
class StateFile {
 public:
  // Throws FailureError.
  // Requires: the lock is held.
  StateFile(const StateFolder& folder, const Identity& agent, std::string_view kind = "agent");

  // Appends a complete line and returns true, or appends nothing and returns false with errno.
  bool add(std::string_view line);
  int descriptor() const { return file_.number(); }
  const std::string& path() const { return path_; }
  bool is_there() const;
  void remove() const;

 private:
  std::string path_;
  FileDescriptor file_;
};

// Returns the contents of an open file, even if it has been removed.
std::string text_in(int descriptor);

// Repairs the usual folder and, as root, the machine's. Ignores errors.
Repaired repair_what_was_left();

}  // namespace huddle::threads
