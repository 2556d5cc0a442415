// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.h"

namespace huddle::team {
namespace {

bool is_not_now(int error) { return error == EAGAIN || error == EINTR; }

void wait_for(const FileDescriptor& socket, short events, Deadline deadline) {
  pollfd watched{socket.number(), events, 0};
  const int timeout_ms = poll_timeout_ms(deadline);
  if (timeout_ms > 0 && (poll(&watched, 1, timeout_ms) >= 0 || errno == EINTR)) return;
  throw FailureError("it did not answer in time");
}

}  // namespace

int poll_timeout_ms(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  constexpr long long most_ms = 3'600'000;  // fits an int; whoever waits on asks again
  return static_cast<int>(std::clamp<long long>(left, 0, most_ms));
}

std::pair<FileDescriptor, FileDescriptor> stream_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw FailureError(fmt::format("cannot make a pair of sockets: {}{}", std::strerror(errno),
                                   errno == EMFILE ? "; raise `ulimit -n`" : ""));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (is_not_now(errno)) {
      wait_for(socket, POLLOUT, deadline);
    } else {
      throw FailureError("it has died or left");
    }
  }
}

std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes) {
  const ssize_t came = recv(socket.number(), bytes.data(), bytes.size(), 0);
  if (came > 0) return static_cast<std::size_t>(came);
  if (came < 0 && is_not_now(errno)) return 0;
  throw FailureError("it has died or left");
}

void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const std::size_t came = receive_some(socket, bytes);
    if (came == 0) wait_for(socket, POLLIN, deadline);
    bytes = bytes.subspan(came);
  }
}

}  // namespace huddle::team
