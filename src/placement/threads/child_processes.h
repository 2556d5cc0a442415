// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <sys/types.h>
#include <csignal>
#include <string>
#include <vector>

#include "common/file.h"
#include "placement/threads/state_folder.h"

namespace huddle::threads {

// A process that stays when the one that has forked it becomes another program.

// For a child just forked: a session of its own, nothing open but these descriptors, and a name of
// its own in lists of processes.
void detach(const std::string& name, std::vector<int> kept);

// A child process that waits with its exec() until those who watch it are ready.
class GatedStart {
 public:
  // `mask`: the signals that are blocked for the program. Throws FailureError.
  GatedStart(const std::string& file, std::vector<std::string> words,
             std::vector<std::string> environment, const sigset_t& mask);
  // Of a child that was never let go: it ends.
  ~GatedStart();
  GatedStart(const GatedStart&) = delete;
  GatedStart& operator=(const GatedStart&) = delete;

  pid_t process() const { return process_; }
  // Lets it become the program. Throws FailureError where it cannot.
  void go();

 private:
  std::string file_;
  FileDescriptor gate_;    // closed or written to
  FileDescriptor report_;  // an errno, or its end once exec() has been done
  pid_t process_ = -1;
};

// A process that waits for the end of the one that has started it, and then gives back what that
// one has not. It does nothing else, so that there is no reason to end it.
class Guardian {
 public:
  // Throws FailureError where there can be none.
  Guardian(const StateFolder& folder, const StateFile& file);
  // pre: nothing is left to be given back.
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
