// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Programs that may use the same processors, as ranks of a node do, share one agent: the first
// one's serves, and is handed the others by a socket. Its name is in the agent's state file.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"
#include "placement/threads/thread_masks.h"

namespace huddle::threads {

// Unix sockets with names that live in the kernel and not in a folder: whoever is killed leaves
// none behind. Somebody connects, sends one message, with descriptors where he likes, is answered
// where he waits for that, and closes.

// Hard to guess, but everybody can see who listens: others of this user alone are listened to.
std::string random_socket_name();

// Throws FailureError where there can be none.
FileDescriptor listen_at(const std::string& name);

struct Received {
  pid_t process = 0;      // who has sent it
  std::size_t bytes = 0;  // of the message; 0: none has come
  std::vector<FileDescriptor> descriptors = {};
  FileDescriptor connection = {};
};

// Of the next one of this user who has come; nothing where nobody has, or where there is no
// descriptor left for him: he is still there the next time. Does not wait for anybody to come, and
// not for long for his message.
std::optional<Received> receive_next(const FileDescriptor& listening, std::span<std::byte> message);
// Holds the connection until the sender has closed it, which he does soon.
void wait_for_close(const FileDescriptor& connection);
// False where the sender waits no more: he never gets that.
bool answer(const FileDescriptor& connection, std::string_view text);

// What whoever listens at that name answers; nothing where nobody listens, or answers in time.
std::optional<std::string> ask(const std::string& name, std::span<const std::byte> message,
                               std::span<const int> descriptors,
                               std::chrono::milliseconds patience);

// Where helpers that were preloaded into programs (helper/helper.c) hand over their userfaultfd.
struct Arrival {
  pid_t process = 0;
  FileDescriptor userfaultfd;  // not open: it could not be had
  int error = 0;               // an errno: why
};

class HelperPort {
 public:
  // Throws FailureError.
  HelperPort();
  // One that another process has made and named, by the socket that listens there.
  explicit HelperPort(FileDescriptor listening) : socket_(std::move(listening)) {}

  // "NAME=VALUE" for the environment of the program. pre: it was made here.
  std::string variable() const;
  int descriptor() const { return socket_.number(); }  // readable when somebody has come
  // The next one who has come. Does not wait.
  std::optional<Arrival> accept() const;

 private:
  std::string name_;
  FileDescriptor socket_;
};

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
