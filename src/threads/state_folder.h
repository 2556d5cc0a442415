// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where agents write down what has to be given back, each in a file of its own. Under a lock, so
// that no two of them claim one processor, and nobody repairs what another one is about to.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "threads/kept_masks.h"

namespace huddle::threads {

// $XDG_RUNTIME_DIR/huddle where that folder is ours, else /run/huddle for root, else
// /dev/shm/huddle-UID.
std::string usual_state_folder();

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
  // Makes the folder. Throws FailureError, also where it belongs to somebody else.
  Lock lock() const;

  const std::string& path() const { return path_; }
  bool exists() const;

  // What agents have written whose agent or guardian is there. Under the lock.
  std::vector<KeptMasks> living() const;
  // Gives back what agents have left that were killed together with their guardians, and removes
  // what they have written. How many masks it changed. Does nothing where there is no folder.
  int repair(ThreadMasks& masks) const;

 private:
  std::vector<std::string> files() const;

  std::string path_;
};

// An agent's file.
class StateFile {
 public:
  // pre: the lock is held. Throws FailureError.
  StateFile(const StateFolder& folder, const Identity& agent);

  // False where that did not get into the file, whole.
  bool add(std::string_view line) const;
  int descriptor() const { return file_.number(); }
  const std::string& path() const { return path_; }
  void remove() const;

 private:
  std::string path_;
  FileDescriptor file_;
};

// The whole of it, even where it has been removed.
std::string text_in(int descriptor);

// repair() of the usual folder. Where that fails, it does nothing.
int repair_what_was_left();

}  // namespace huddle::threads
