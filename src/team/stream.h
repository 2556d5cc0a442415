// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Connected Unix sockets with a deadline: whole messages, or an error that says what happened.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.h"

namespace huddle::team {
using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// Milliseconds until then as poll() takes them: at least one while the deadline is not reached.
int poll_timeout_ms(Deadline deadline);

// So much longer than rank 0 itself the others wait for what it has to say, so that all hear from
// it who did not come in time.
inline constexpr std::chrono::seconds hub_grace{2};

// Two connected ends. Throws FailureError.
std::pair<FileDescriptor, FileDescriptor> stream_pair();

// A name that lives in the kernel and not in a folder, and ends with its last socket.
struct AbstractAddress {
  explicit AbstractAddress(std::string_view name);

  sockaddr_un address{};
  socklen_t length = 0;

  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address); }
};

// Whether the process at the other end runs as the same user as we do.
bool is_same_user(const FileDescriptor& socket);

// Both throw FailureError: the deadline has passed, or the other end is closed or dead.
void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline);

// What is there, without waiting: the number of bytes, 0 where there is none. Throws FailureError
// where the other end is closed or dead.
std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes);

}  // namespace huddle::team
