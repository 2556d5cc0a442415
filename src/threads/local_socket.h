// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Unix sockets with names that live in the kernel and not in a folder: whoever is killed leaves
// none behind. Somebody connects, sends one message, with descriptors where he likes, and closes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace huddle::threads {

// Hard to guess, but everybody can see who listens: others of this user alone are listened to.
std::string random_socket_name();

// Throws FailureError where there can be none.
FileDescriptor listen_at(const std::string& name);

struct Received {
  pid_t process = 0;      // who has sent it
  std::size_t bytes = 0;  // of the message; 0: none has come
  std::vector<FileDescriptor> descriptors = {};
};

// Of the next one of this user who has come; nothing where nobody has. Does not wait for anybody to
// come, and not for long for his message. The connection is held until the sender has closed it.
std::optional<Received> receive_next(const FileDescriptor& listening, std::span<std::byte> message);

// False where nobody listens at that name, or cannot take it now. Does not wait.
bool send_once(const std::string& name, std::span<const std::byte> message,
               std::span<const int> descriptors);

}  // namespace huddle::threads
