// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/helper_port.h"

#include <fmt/format.h>

#include <span>

#include "placement/threads/helper/greeting.h"
#include "placement/threads/local_socket.h"

namespace huddle::threads {

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

}  // namespace huddle::threads
