// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Addresses of local sockets (AF_UNIX), and messages that carry descriptors.
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

// A name in the kernel instead of a file system: it ends with its last socket. Cut to 107 bytes.
struct AbstractAddress {
  explicit AbstractAddress(std::string_view name);

  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length = 0;
};

// The process at the other end of a connection, if this user runs it.
std::optional<pid_t> peer_of_same_user(const FileDescriptor& socket);

inline constexpr std::size_t most_descriptors_per_message = 8;

// Sends the bytes and these descriptors as one message. Returns what sendmsg() returns. Never
// raises SIGPIPE. Requires: at most most_descriptors_per_message descriptors.
ssize_t send_message(const FileDescriptor& socket, std::span<const std::byte> bytes,
                     std::span<const int> descriptors, int flags = 0,
                     const AbstractAddress* to = nullptr);

struct ReceivedMessage {
  ssize_t bytes = -1;  // as recvmsg() returns it
  std::vector<FileDescriptor> descriptors = {};
  std::optional<ucred> sender = {};  // only if the socket has SO_PASSCRED
};

// Receives one message into `bytes`. The descriptors in it are closed on exec.
ReceivedMessage receive_message(const FileDescriptor& socket, std::span<std::byte> bytes,
                                int flags = 0);

}  // namespace huddle
