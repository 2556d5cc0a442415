// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Starts programs in ways that posix_spawn() does not offer.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace huddle {

// While an object exists, SIGCHLD has its default action: if huddle inherited SIG_IGN, the kernel
// would discard the status of each child.
// Requires: only one object exists at a time.
class DefaultChildSignal {
 public:
  DefaultChildSignal();
  ~DefaultChildSignal();
  DefaultChildSignal(const DefaultChildSignal&) = delete;
  DefaultChildSignal& operator=(const DefaultChildSignal&) = delete;

  bool was_ignored() const { return before_.sa_handler == SIG_IGN; }

 private:
  struct sigaction before_ {};
};

struct ProgramStart {
  std::string program;             // a path; a script without an interpreter line is run by a shell
  std::vector<std::string> words;  // the first one is argv[0]
  std::vector<std::string> environment;  // NAME=VALUE
  int input = -1;                        // becomes standard input; -1: inherited
  int output = -1;                       // becomes standard output and error; -1: inherited
  bool leads_group = false;              // leads a new process group
  // Gets SIGTERM when the calling thread ends, even if that is killed.
  bool ends_with_parent = false;
  std::vector<int> ignored_signals = {};
  std::vector<int> default_signals = {};
  std::optional<sigset_t> blocked_signals = {};  // none: inherited
};

// Returns the process id, or -1 with errno if the program cannot be started.
pid_t start_program(ProgramStart start);

}  // namespace huddle
