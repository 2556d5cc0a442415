// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Messages of a rank that are under way. What is empty is not sent, and nobody waits for it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/context/sizes_differ.h"
#include "runtime/schedules/wire.h"

namespace huddle::internode {

class PendingMessages {
 public:
  // Keeps a reference.
  explicit PendingMessages(net::Wire& wire) : wire_(wire) {}

  void send(int peer, std::span<const std::byte> bytes) {
    if (!bytes.empty()) tickets_.push_back(wire_.send(peer, bytes));
  }
  void receive(int peer, std::span<std::byte> bytes) {
    if (!bytes.empty()) tickets_.push_back(wire_.receive(peer, bytes));
  }
  std::size_t size() const { return tickets_.size(); }

  // Does not wait. True: none is under way any more.
  bool advance() {
    std::erase_if(tickets_, [this](net::Wire::Ticket ticket) { return is_done(ticket); });
    return tickets_.empty();
  }
  // Whether more came from a rank than there is room for; the rest of it is lost.
  bool is_truncated() const { return is_truncated_; }

 private:
  bool is_done(net::Wire::Ticket ticket) {
    try {
      return wire_.test(ticket);
    } catch (const world::SizesDiffer&) {
      is_truncated_ = true;
      return true;
    }
  }

  net::Wire& wire_;
  std::vector<net::Wire::Ticket> tickets_;
  bool is_truncated_ = false;
};

}  // namespace huddle::internode
