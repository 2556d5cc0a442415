// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Interface of the transport that carries a rank's messages. No function blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace huddle::schedules {

class Wire {
 public:
  using Ticket = std::int64_t;

  virtual ~Wire() = default;
  // Start to send or receive a message. Messages between two ranks arrive in the order in which
  // they were sent. Until the ticket is complete, sent bytes must not be changed and received bytes
  // must not be read.
  virtual Ticket send(int peer, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int peer, std::span<std::byte> bytes) = 0;
  // Returns whether a ticket is complete. A ticket must not be tested again after that, nor after
  // an exception: test() may throw SizesDiffer (context/errors.h) if another amount of data
  // arrived.
  virtual bool test(Ticket ticket) = 0;
};

// A wire that splits messages into pieces for another wire, because that one cannot carry larger
// ones or carries small ones faster. Both ends of a message must know its size and the piece size.
class InPieces : public Wire {
 public:
  // Keeps a reference to `wire`.
  // Requires: piece_bytes > 0.
  InPieces(Wire& wire, std::size_t piece_bytes) : wire_(wire), piece_bytes_(piece_bytes) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    return start(bytes, [&](auto piece) { return wire_.send(peer, piece); });
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    return start(bytes, [&](auto piece) { return wire_.receive(peer, piece); });
  }
  bool test(Ticket ticket) override {
    Message& message = messages_[static_cast<std::size_t>(ticket)];
    while (message.done < message.pieces.size()) {
      try {
        if (!wire_.test(message.pieces[message.done])) return false;
      } catch (...) {
        free_.push_back(ticket);  // it must not be tested again
        throw;
      }
      ++message.done;
    }
    free_.push_back(ticket);
    return true;
  }

 private:
  struct Message {
    std::vector<Ticket> pieces;
    std::size_t done = 0;
  };

  // Starts all pieces of a message. An empty message is one piece.
  template <typename Byte, typename Start>
  Ticket start(std::span<Byte> bytes, const Start& start_piece) {
    const Ticket ticket = free_ticket();
    Message& message = messages_[static_cast<std::size_t>(ticket)];
    message.done = 0;
    message.pieces.clear();
    do {
      const std::size_t piece = std::min(bytes.size(), piece_bytes_);
      message.pieces.push_back(start_piece(bytes.first(piece)));
      bytes = bytes.subspan(piece);
    } while (!bytes.empty());
    return ticket;
  }
  Ticket free_ticket() {
    if (free_.empty()) {
      messages_.emplace_back();
      free_.reserve(messages_.size());
      return static_cast<Ticket>(messages_.size() - 1);
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    return ticket;
  }

  Wire& wire_;
  std::size_t piece_bytes_;
  std::vector<Message> messages_;
  std::vector<Ticket> free_;
};

}  // namespace huddle::schedules
