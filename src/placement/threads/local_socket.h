// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Unix sockets with names that live in the kernel and not in a folder: whoever is killed leaves
// none behind. Somebody connects, sends one message, with descriptors where he likes, is answered
// where he waits for that, and closes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_descriptor.h"

namespace huddle::threads {

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

}  // namespace huddle::threads
