// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Programs that may use the same processors, as ranks of a node do, share one agent: the first
// one's serves, and is handed the others by a socket. Its name is in the agent's state file.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_descriptor.h"
#include "placement/threads/helper_port.h"
#include "placement/threads/thread_masks.h"

namespace huddle::threads {

// A process that is about to become the program, and is not ours to wait for.
struct AwaitedProgram {
  Identity process = {};
  double fault_s = 0;         // what a fault costs here
  bool splits_huge = false;   // pages of it, to see who shares them
  HelperPort port;            // whose name is in the program's environment
  FileDescriptor ready;       // where it waits for ready_word, or for why it is not watched
  FileDescriptor until_exec;  // readable once it has become the program
  FileDescriptor report;      // where it wants to read what was seen; not open: nowhere

  // False where it does not wait any more.
  bool tell(std::string_view text) const;
};

inline constexpr const char* ready_word = "ready";

class AgentSocket {
 public:
  // Throws FailureError.
  AgentSocket();

  const std::string& name() const { return name_; }
  int descriptor() const { return socket_.number(); }  // readable when somebody has come
  // The next program that was handed over. Who hands one over is told that it was taken, or why it
  // was not. Does not wait.
  std::optional<AwaitedProgram> accept() const;

 private:
  std::string name_;
  FileDescriptor socket_;
};

// An agent answers within a round, unless it stands still.
inline constexpr std::chrono::milliseconds usual_patience{1000};
// To the agent that listens there. Empty: it has taken it; else why not.
std::string hand_over(const AwaitedProgram& program, const std::string& socket,
                      std::chrono::milliseconds patience = usual_patience);

}  // namespace huddle::threads
