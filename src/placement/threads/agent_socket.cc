// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/agent_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/unix_socket.h"
#include "placement/threads/helper/greeting.h"

namespace huddle::threads {
namespace {

FileDescriptor open_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

std::string random_socket_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
  return fmt::format("huddle-agent-{}-{:016x}", ::getpid(), number);
}

FileDescriptor listen_at(const std::string& name) {
  const AbstractAddress address(name);
  FileDescriptor socket = open_socket();
  constexpr int most_waiting = 128;
  if (!socket.is_open() || ::bind(socket.number(), address.generic(), address.length) != 0 ||
      ::listen(socket.number(), most_waiting) != 0) {
    throw FailureError(
        fmt::format("cannot create a socket for the observed program: {}", std::strerror(errno)));
  }
  return socket;
}

std::optional<Received> receive_next(const FileDescriptor& listening,
                                     std::span<std::byte> message) {
  FileDescriptor peer;
  std::optional<pid_t> process;
  // Limits the number of foreign connections per call, because other users could connect endlessly.
  int strangers_left = 16;
  do {
    if (strangers_left-- == 0) return std::nullopt;
    peer = FileDescriptor(::accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.is_open()) return std::nullopt;
    process = peer_of_same_user(peer);
  } while (!process);
  // The client sends right after it connects; the agent drops a client that has not sent by this
  // time.
  const timeval wait{.tv_sec = 0, .tv_usec = 100'000};
  ::setsockopt(peer.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  Received received{.process = *process};
  ReceivedMessage got = receive_message(peer, message);
  if (got.bytes <= 0) return received;
  received.bytes = static_cast<std::size_t>(got.bytes);
  received.descriptors = std::move(got.descriptors);
  received.connection = std::move(peer);
  return received;
}

// The client closes its copies of the descriptors that it has sent before it closes the connection.
void wait_for_close(const FileDescriptor& connection) {
  char nothing = 0;
  (void)!::recv(connection.number(), &nothing, 1, 0);
}

bool answer(const FileDescriptor& connection, std::string_view text) {
  return ::send(connection.number(), text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

std::optional<std::string> ask(const std::string& name, std::span<const std::byte> message,
                               std::span<const int> descriptors,
                               std::chrono::milliseconds patience) {
  if (descriptors.size() > most_descriptors_per_message) return std::nullopt;
  const AbstractAddress address(name);
  const FileDescriptor socket = open_socket();
  if (!socket.is_open() || ::connect(socket.number(), address.generic(), address.length) != 0) {
    return std::nullopt;
  }
  // The agent may have ended, and another user's process may have taken its name.
  if (!peer_of_same_user(socket)) return std::nullopt;
  if (send_message(socket, message, descriptors) != static_cast<ssize_t>(message.size())) {
    return std::nullopt;
  }
  pollfd wait{socket.number(), POLLIN, 0};
  ::poll(&wait, 1, static_cast<int>(patience.count()));
  // Stops receiving, so that a late answer() fails: both sides then agree that there was no answer.
  ::shutdown(socket.number(), SHUT_RD);
  std::array<char, 256> text{};
  const ssize_t got = ::recv(socket.number(), text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(got));
}

HelperPort::HelperPort() : name_(random_socket_name()), socket_(listen_at(name_)) {}

std::string HelperPort::variable() const {
  return fmt::format("{}={}", HUDDLE_AGENT_VARIABLE, name_);
}

std::optional<Arrival> HelperPort::accept() const {
  huddle_greeting greeting{};
  const std::span<std::byte> room = std::as_writable_bytes(std::span(&greeting, 1));
  while (std::optional<Received> received = receive_next(socket_, room)) {
    if (received->bytes != sizeof greeting) continue;
    wait_for_close(received->connection);
    Arrival arrival{.process = received->process, .userfaultfd = {}, .error = greeting.error};
    if (!received->descriptors.empty()) {
      arrival.userfaultfd = std::move(received->descriptors.front());
    }
    return arrival;
  }
  return std::nullopt;
}

namespace {

// Message that hands a program over. It comes with these descriptors: the helper's port, the ready
// pipe, the pipe that closes at exec(), and optionally a pipe for the report.
struct HandedOver {
  Identity process = {};
  double fault_s = 0;
  bool splits_huge = false;
};

constexpr std::string_view taken = "taken";
constexpr std::size_t least_descriptors = 3;

std::string why_not(const Received& received, const HandedOver& handed) {
  if (received.bytes != sizeof handed) return "the program belongs to another version of huddle";
  if (received.descriptors.size() < least_descriptors) return "no file descriptors are left";
  // In another PID namespace the number may belong to another process, whose start time differs.
  if (!SystemMasks().is_there(handed.process)) return "it cannot see the process";
  return {};
}

}  // namespace

bool AwaitedProgram::tell(std::string_view text) const {
  return ::write(ready.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

AgentSocket::AgentSocket() : name_(random_socket_name()), socket_(listen_at(name_)) {}

std::optional<AwaitedProgram> AgentSocket::accept() const {
  HandedOver handed;
  const std::span<std::byte> room = std::as_writable_bytes(std::span(&handed, 1));
  while (std::optional<Received> received = receive_next(socket_, room)) {
    std::vector<FileDescriptor>& all = received->descriptors;
    if (received->bytes == 0) continue;
    if (const std::string refusal = why_not(*received, handed); !refusal.empty()) {
      answer(received->connection, refusal);
      continue;
    }
    // A client that has timed out runs an agent of its own.
    if (!answer(received->connection, taken)) continue;
    AwaitedProgram program{.process = handed.process,
                           .fault_s = handed.fault_s,
                           .splits_huge = handed.splits_huge,
                           .port = HelperPort(std::move(all[0])),
                           .ready = std::move(all[1]),
                           .until_exec = std::move(all[2]),
                           .report = {}};
    if (all.size() > least_descriptors) program.report = std::move(all[3]);
    return program;
  }
  return std::nullopt;
}

std::string offer_program(const AwaitedProgram& program, const std::string& socket,
                          std::chrono::milliseconds patience) {
  const HandedOver handed{program.process, program.fault_s, program.splits_huge};
  std::vector<int> descriptors = {program.port.descriptor(), program.ready.number(),
                                  program.until_exec.number()};
  if (program.report.is_open()) descriptors.push_back(program.report.number());
  const std::optional<std::string> said =
      ask(socket, std::as_bytes(std::span(&handed, 1)), descriptors, patience);
  if (!said) return "it does not answer";
  return *said == taken ? "" : *said;
}

}  // namespace huddle::threads
