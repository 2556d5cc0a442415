// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
// Child processes of the agent: the program, which delays its exec() until it is watched, and the
// guardian.
#pragma once

#include <sys/types.h>
#include <csignal>
#include <string>
#include <vector>

#include "common/file.h"
#include "placement/threads/state_folder.h"

namespace huddle::threads {

// Turns a forked child into a background process: a new session, no open descriptors except `kept`,
// and a process name of its own.
void detach(const std::string& name, std::vector<int> kept);

// A child process that delays its exec() until the observers are ready.
class GatedStart {
 public:
  // `mask`: the signals that are blocked when the program starts. Throws FailureError.
  GatedStart(const std::string& file, std::vector<std::string> words,
             std::vector<std::string> environment, const sigset_t& mask);
  // Ends the child if go() was not called.
  ~GatedStart();
  GatedStart(const GatedStart&) = delete;
  GatedStart& operator=(const GatedStart&) = delete;

  pid_t process() const { return process_; }
  // Lets the child call exec(). Throws FailureError if that fails.
  void go();

 private:
  std::string file_;
  FileDescriptor gate_;    // a byte lets the child go, end of file ends it
  FileDescriptor report_;  // receives an errno, or end of file after exec()
  pid_t process_ = -1;
};

// A process that waits for its parent to end and then restores what the parent has not. It does
// nothing else, so that there is no reason to kill it.
class Guardian {
 public:
  // Throws FailureError if it cannot be started.
  Guardian(const StateFolder& folder, const StateFile& file);
  // Requires: nothing is left to restore.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  Identity identity() const { return identity_; }
  bool is_alive() const;

 private:
  Identity identity_;
  FileDescriptor hold_;
};

}  // namespace huddle::threads
