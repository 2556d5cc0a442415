// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Abstract addresses of Unix sockets, and messages that carry file descriptors.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace huddle {

// A socket address in Linux's abstract namespace, which needs no file (unix(7)). Truncates names to
// 107 bytes.
struct AbstractAddress {
  explicit AbstractAddress(std::string_view name);

  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length = 0;
};

// Returns the process id of the peer of a connection, or nothing if the peer runs as another user.
std::optional<pid_t> peer_of_same_user(const FileDescriptor& socket);

inline constexpr std::size_t most_descriptors_per_message = 8;

// Sends the bytes and descriptors as one message. Returns the result of sendmsg(). Never raises
// SIGPIPE. Requires: at most most_descriptors_per_message descriptors.
ssize_t send_message(const FileDescriptor& socket, std::span<const std::byte> bytes,
                     std::span<const int> descriptors, int flags = 0,
                     const AbstractAddress* to = nullptr);

struct ReceivedMessage {
  ssize_t bytes = -1;  // result of recvmsg()
  std::vector<FileDescriptor> descriptors = {};
  std::optional<ucred> sender = {};  // only if the socket has SO_PASSCRED
};

// Receives one message into `bytes`. Received descriptors have close-on-exec set.
ReceivedMessage receive_message(const FileDescriptor& socket, std::span<std::byte> bytes,
                                int flags = 0);

}  // namespace huddle
