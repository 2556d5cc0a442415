// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Connected Unix sockets with a deadline: whole messages, or an error that says what happened.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "common/file_descriptor.h"

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

// Both throw FailureError: the deadline has passed, or the other end is closed or dead.
void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline);

// What is there, without waiting: the number of bytes, 0 where there is none. Throws FailureError
// where the other end is closed or dead.
std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes);

}  // namespace huddle::team
