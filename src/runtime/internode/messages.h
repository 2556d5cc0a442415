// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/context/waiting.h"
#include "runtime/schedules/wire.h"

namespace huddle::internode {

// A wire between the ranks of a communicator, and between some of them.
class RankWire : public schedules::Wire {
 public:
  // From whichever rank. pre: nothing else may come in by this wire meanwhile.
  virtual Ticket receive_from_any(std::span<std::byte> bytes) = 0;
};

// Peers are those ranks, by their numbers in that list. Keeps references.
class SomeRanks : public schedules::Wire {
 public:
  SomeRanks(schedules::Wire& by_rank, std::span<const int> ranks)
      : by_rank_(by_rank), ranks_(ranks) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    return by_rank_.send(rank_of(peer), bytes);
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    return by_rank_.receive(rank_of(peer), bytes);
  }
  bool test(Ticket ticket) override { return by_rank_.test(ticket); }

 private:
  int rank_of(int peer) const { return ranks_[static_cast<std::size_t>(peer)]; }

  schedules::Wire& by_rank_;
  std::span<const int> ranks_;
};

// What ranks of this process have sent to other nodes. For several threads.
class Traffic {
 public:
  void add(std::size_t bytes) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  std::uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

// Memory that messages are sent from or received into. Where a call ends in the middle, some may
// still be under way: then it is left to them.
class MessageBuffer {
 public:
  explicit MessageBuffer(std::size_t bytes = 0)
      : bytes_(std::make_unique<std::vector<std::byte>>(bytes)) {}
  MessageBuffer(MessageBuffer&&) = default;
  MessageBuffer& operator=(MessageBuffer&&) = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): left to the messages, as said above
  ~MessageBuffer() {
    if (std::uncaught_exceptions() > exceptions_) static_cast<void>(bytes_.release());
  }
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

  void resize(std::size_t bytes) { bytes_->resize(bytes); }
  std::byte* data() { return bytes_->data(); }
  const std::byte* data() const { return bytes_->data(); }
  std::size_t size() const { return bytes_->size(); }
  bool empty() const { return bytes_->empty(); }

 private:
  int exceptions_ = std::uncaught_exceptions();
  std::unique_ptr<std::vector<std::byte>> bytes_;
};

// Messages of a rank that are under way. What is empty is not sent, and nobody waits for it.
class PendingMessages {
 public:
  // Keeps a reference.
  explicit PendingMessages(schedules::Wire& wire) : wire_(wire) {}

  void send(int peer, std::span<const std::byte> bytes) {
    if (!bytes.empty()) tickets_.push_back(wire_.send(peer, bytes));
  }
  void receive(int peer, std::span<std::byte> bytes) {
    if (!bytes.empty()) tickets_.push_back(wire_.receive(peer, bytes));
  }
  std::size_t size() const { return tickets_.size(); }

  // Does not wait. True: none is under way any more.
  bool advance() {
    std::erase_if(tickets_, [this](schedules::Wire::Ticket ticket) { return is_done(ticket); });
    return tickets_.empty();
  }
  // Whether more came from a rank than there is room for; the rest of it is lost.
  bool is_truncated() const { return is_truncated_; }

 private:
  bool is_done(schedules::Wire::Ticket ticket) {
    try {
      return wire_.test(ticket);
    } catch (const context::SizesDiffer&) {
      is_truncated_ = true;
      return true;
    }
  }

  schedules::Wire& wire_;
  std::vector<schedules::Wire::Ticket> tickets_;
  bool is_truncated_ = false;
};

// How a rank waits for messages: as it does for its peers' flags.

// Messages: go on by advance(). Where that ends in the middle, they may still come in: what they
// were to be received into is left to them.
template <typename Messages, typename Meanwhile>
std::unique_ptr<Messages> finish(std::unique_ptr<Messages> messages, context::Waiting& waiting,
                                 const Meanwhile& meanwhile) {
  try {
    bool is_done = messages->advance();
    meanwhile();
    is_done = is_done || messages->advance();
    if (is_done) return messages;
    context::Wait wait(waiting);
    do {
      wait.spend();
    } while (!messages->advance());
    return messages;
  } catch (...) {
    static_cast<void>(messages.release());
    throw;
  }
}
template <typename Messages>
std::unique_ptr<Messages> finish(std::unique_ptr<Messages> messages, context::Waiting& waiting) {
  return finish(std::move(messages), waiting, [] {});
}

}  // namespace huddle::internode
