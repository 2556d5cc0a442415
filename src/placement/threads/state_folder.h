// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where agents write down what has to be given back, each in a file of its own. Under a lock, so
// that no two of them claim one processor, and nobody repairs what another one is about to.
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

// $XDG_RUNTIME_DIR/huddle where that folder is ours, else /run/huddle for root, else
// /dev/shm/huddle-UID.
std::string usual_state_folder();
// What is set of the kernel's is the whole machine's: whoever may do that, root, uses one folder.
inline constexpr const char* machine_state_folder = "/run/huddle";

// What was given back of what an agent has left that was killed together with its guardian.
struct Repaired {
  int threads = 0;  // that had been bound
  int values = 0;   // of the kernel's
};

class StateFolder {
 public:
  explicit StateFolder(std::string path) : path_(std::move(path)) {}

  // While it lives nobody else has one. A folder with nothing in it goes with it.
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
  // Nobody holds the lock for longer than he needs to read some files, unless he stands still. Two
  // of these are less than what a program waits for its agent.
  static constexpr std::chrono::milliseconds usual_patience{4000};
  // Makes the folder. Throws FailureError, also where it belongs to somebody else, and where nobody
  // gives the lock back.
  Lock lock(std::chrono::milliseconds patience = usual_patience) const;
  // Nothing where somebody else has it.
  std::optional<Lock> try_lock() const;

  const std::string& path() const { return path_; }
  bool exists() const;

  // What agents have written whose agent or guardian is there. Under the lock.
  std::vector<KeptState> living() const;
  // What this agent has set of the kernel's, and no other one that lives has set as well, becomes
  // what it was, unless somebody else has changed it since. How many it changed. Under the lock.
  int give_back_values(const KeptState& kept) const;
  // Gives back what agents have left that were killed together with their guardians, and removes
  // what they have written. Does nothing where there is no folder.
  Repaired repair(ThreadMasks& masks) const;

 private:
  std::vector<std::string> files() const;

  std::string path_;
};

// An agent's file. One that binds threads and sets something of the kernel's has two: the second is
// the whole machine's.
class StateFile {
 public:
  // pre: the lock is held. Throws FailureError.
  StateFile(const StateFolder& folder, const Identity& agent, std::string_view kind = "agent");

  // All of a line, or nothing of it: false, and errno says why.
  bool add(std::string_view line);
  int descriptor() const { return file_.number(); }
  const std::string& path() const { return path_; }
  bool is_there() const;
  void remove() const;

 private:
  std::string path_;
  FileDescriptor file_;
};

// The whole of it, even where it has been removed.
std::string text_in(int descriptor);

// repair() of the usual folder and, as root, of the machine's. Where that fails, it does nothing.
Repaired repair_what_was_left();

}  // namespace huddle::threads
