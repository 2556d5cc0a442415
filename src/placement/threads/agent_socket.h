// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Programs that may use the same hardware threads, such as the ranks of a node, share one agent:
// the agent of the first program listens on a socket whose name is in its state file, and the
// others hand their programs over to it.
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

// Unix sockets in the abstract namespace, which leave no file behind if a process is killed. A
// client connects, sends one message, optionally with descriptors, reads an answer, and closes.
//
// The name is hard to guess, but visible to all users; connections of other users are rejected.
std::string random_socket_name();

// Throws FailureError if the socket cannot be created.
FileDescriptor listen_at(const std::string& name);

struct Received {
  pid_t process = 0;      // the sender
  std::size_t bytes = 0;  // size of the message; 0 if none has arrived
  std::vector<FileDescriptor> descriptors = {};
  FileDescriptor connection = {};
};

// Accepts the next connection from this user. Returns nothing if there is none, or no free
// descriptor; the connection then stays queued. Waits only for the message, up to 100 ms.
std::optional<Received> receive_next(const FileDescriptor& listening, std::span<std::byte> message);
// Blocks until the sender has closed the connection, for at most 100 ms.
void wait_for_close(const FileDescriptor& connection);
// Returns false if the sender does not wait for an answer any more.
bool answer(const FileDescriptor& connection, std::string_view text);

// Sends a message to the socket of that name. Returns the answer if it comes within `patience`.
std::optional<std::string> ask(const std::string& name, std::span<const std::byte> message,
                               std::span<const int> descriptors,
                               std::chrono::milliseconds patience);

// Message of a helper that is preloaded into a program (helper/helper.c) and sends its userfaultfd.
struct Arrival {
  pid_t process = 0;
  FileDescriptor userfaultfd;  // not open if it could not be created
  int error = 0;               // errno of that failure
};

// The socket to which helpers connect.
class HelperPort {
 public:
  // Throws FailureError.
  HelperPort();
  // Uses a listening socket that another process has created and named.
  explicit HelperPort(FileDescriptor listening) : socket_(std::move(listening)) {}

  // Returns "NAME=VALUE" for the environment of the program.
  // Requires: this object created the socket.
  std::string variable() const;
  int descriptor() const { return socket_.number(); }  // readable if a helper has connected
  // Returns the message of the next helper. Does not block.
  std::optional<Arrival> accept() const;

 private:
  std::string name_;
  FileDescriptor socket_;
};

// A process that is about to become the program and is a child of another process.
struct AwaitedProgram {
  Identity process = {};
  double fault_s = 0;        // measured cost of a page fault
  bool splits_huge = false;  // split its huge pages to see which threads share them
  HelperPort port;           // its name is in the program's environment
  // the process waits here for ready_word, or for the reason why it is not watched
  FileDescriptor ready;
  FileDescriptor until_exec;  // readable once the process has called exec()
  FileDescriptor report;      // where the process expects the report; not open if it does not

  // Returns false if the process does not wait any more.
  bool tell(std::string_view text) const;
};

inline constexpr const char* ready_word = "ready";

class AgentSocket {
 public:
  // Throws FailureError.
  AgentSocket();

  const std::string& name() const { return name_; }
  int descriptor() const { return socket_.number(); }  // readable if a program is being handed over
  // Returns the next program that was handed over, after confirming it to the sender. Programs that
  // are refused get the reason as answer. Does not block.
  std::optional<AwaitedProgram> accept() const;

 private:
  std::string name_;
  FileDescriptor socket_;
};

// An agent answers within one round.
inline constexpr std::chrono::milliseconds usual_patience{1000};
// Hands a program over to the agent at `socket`. Returns an empty string, or the reason why the
// agent refused.
std::string offer_program(const AwaitedProgram& program, const std::string& socket,
                          std::chrono::milliseconds patience = usual_patience);

}  // namespace huddle::threads
