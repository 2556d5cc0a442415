// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/local_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace huddle::threads {
namespace {

constexpr std::size_t most_descriptors = 8;
constexpr std::size_t control_bytes = CMSG_SPACE(most_descriptors * sizeof(int));

struct Address {
  explicit Address(std::string_view name) {
    by_name.sun_family = AF_UNIX;
    const std::size_t most = sizeof by_name.sun_path - 1;
    const std::size_t length = std::min(name.size(), most);
    std::memcpy(by_name.sun_path + 1, name.data(), length);  // abstract: begins with a 0
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* plain() const { return reinterpret_cast<const sockaddr*>(&by_name); }

  sockaddr_un by_name{};
  socklen_t bytes = 0;
};

FileDescriptor open_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool is_of_this_user(const FileDescriptor& connection, ucred& who) {
  socklen_t bytes = sizeof who;
  return ::getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
         who.uid == ::geteuid();
}

std::vector<FileDescriptor> descriptors_in(msghdr& message) {
  std::vector<FileDescriptor> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::array<int, most_descriptors> numbers{};
    std::memcpy(numbers.data(), CMSG_DATA(part), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(numbers[i]);
  }
  return all;
}

}  // namespace

std::string random_socket_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
  return fmt::format("huddle-agent-{}-{:016x}", ::getpid(), number);
}

FileDescriptor listen_at(const std::string& name) {
  const Address address(name);
  FileDescriptor socket = open_socket();
  constexpr int most_waiting = 128;
  if (!socket.is_open() || ::bind(socket.number(), address.plain(), address.bytes) != 0 ||
      ::listen(socket.number(), most_waiting) != 0) {
    throw FailureError(fmt::format("no socket for the watched program: {}", std::strerror(errno)));
  }
  return socket;
}

std::optional<Received> receive_next(const FileDescriptor& listening,
                                     std::span<std::byte> message) {
  FileDescriptor peer;
  ucred who{};
  // Users whom this does not concern could come without end: more of them are for the next time.
  int strangers_left = 16;
  do {
    if (strangers_left-- == 0) return std::nullopt;
    peer = FileDescriptor(::accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer.is_open()) return std::nullopt;
  } while (!is_of_this_user(peer, who));
  // It has sent before it ends, at once; somebody who does not is not waited for long.
  const timeval wait{.tv_sec = 0, .tv_usec = 100'000};
  ::setsockopt(peer.number(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  Received received{.process = who.pid};
  iovec data{message.data(), message.size()};
  alignas(cmsghdr) std::array<char, control_bytes> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(peer.number(), &header, MSG_CMSG_CLOEXEC);
  if (got <= 0) return received;
  received.bytes = static_cast<std::size_t>(got);
  received.descriptors = descriptors_in(header);
  received.connection = std::move(peer);
  return received;
}

// He closes his own copies of what he has sent, then the connection.
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
  if (descriptors.size() > most_descriptors) return std::nullopt;
  const Address address(name);
  const FileDescriptor socket = open_socket();
  if (!socket.is_open() || ::connect(socket.number(), address.plain(), address.bytes) != 0) {
    return std::nullopt;
  }
  // Who had the name may have ended, and somebody else have it.
  ucred who{};
  if (!is_of_this_user(socket, who)) return std::nullopt;
  std::vector<std::byte> copy(message.begin(), message.end());  // an iovec is not of constants
  iovec data{copy.data(), copy.size()};
  alignas(cmsghdr) std::array<char, control_bytes> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t bytes = descriptors.size_bytes();
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  if (::sendmsg(socket.number(), &header, MSG_NOSIGNAL) != static_cast<ssize_t>(message.size())) {
    return std::nullopt;
  }
  pollfd wait{socket.number(), POLLIN, 0};
  ::poll(&wait, 1, static_cast<int>(patience.count()));
  // From here on no answer comes any more, and whoever sends one is told so: both know the same.
  ::shutdown(socket.number(), SHUT_RD);
  std::array<char, 256> text{};
  const ssize_t got = ::recv(socket.number(), text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(got));
}

}  // namespace huddle::threads
