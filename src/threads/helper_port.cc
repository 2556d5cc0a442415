// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/helper_port.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "threads/helper/greeting.h"

namespace huddle::threads {
namespace {

// Nobody else can guess it: whoever comes was told.
std::string random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
  return fmt::format("huddle-agent-{}-{:016x}", ::getpid(), number);
}

}  // namespace

HelperPort::HelperPort()
    : name_(random_name()),
      socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name_.data(), name_.size());  // abstract: begins with a 0
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  constexpr int most_waiting = 128;
  const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
  if (!socket_.is_open() || ::bind(socket_.number(), plain, bytes) != 0 ||
      ::listen(socket_.number(), most_waiting) != 0) {
    throw FailureError(fmt::format("no socket for the watched program: {}", std::strerror(errno)));
  }
}

std::string HelperPort::variable() const {
  return fmt::format("{}={}", HUDDLE_AGENT_VARIABLE, name_);
}

std::optional<Arrival> HelperPort::accept() const {
  const FileDescriptor peer(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer.is_open()) return std::nullopt;
  ucred who{};
  socklen_t bytes = sizeof who;
  ::getsockopt(peer.number(), SOL_SOCKET, SO_PEERCRED, &who, &bytes);
  // It has sent before it ends, at once; somebody who does not is not waited for long.
  const timeval wait{.tv_sec = 0, .tv_usec = 100'000};
  ::setsockopt(peer.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  huddle_greeting greeting{};
  iovec data{&greeting, sizeof greeting};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(peer.number(), &message, MSG_CMSG_CLOEXEC) != sizeof greeting) {
    return std::nullopt;
  }
  Arrival arrival{.process = who.pid, .userfaultfd = {}, .error = greeting.error};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    arrival.userfaultfd = FileDescriptor(fd);
  }
  // It closes its own copy, then the connection.
  char nothing = 0;
  (void)!::recv(peer.number(), &nothing, 1, 0);
  return arrival;
}

}  // namespace huddle::threads
