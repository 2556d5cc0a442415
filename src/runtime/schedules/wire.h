// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What carries a rank's messages. Nothing here ever waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace huddle::net {

class Wire {
 public:
  using Ticket = std::int64_t;

  virtual ~Wire() = default;
  // Messages between two ranks come in the order in which they were sent. The bytes must stay as
  // they are, and nobody may read what is received, until the ticket is done.
  virtual Ticket send(int peer, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int peer, std::span<std::byte> bytes) = 0;
  // Whether it is done; then the ticket is not asked for again, nor where more has come than there
  // was room for: that may throw SizesDiffer (world/sizes_differ.h).
  virtual bool test(Ticket ticket) = 0;
};

}  // namespace huddle::net
