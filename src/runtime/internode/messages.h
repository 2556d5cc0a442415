// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Messages between ranks on several nodes: wires, buffers, pending messages, and the wait for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/context/waiting.h"
#include "runtime/schedules/wire.h"

namespace huddle::internode {

// A wire between the ranks of a communicator. It can receive from any rank, and keeps the messages
// of different calls apart by marks.
class RankWire : public schedules::Wire {
 public:
  using Mark = std::uint32_t;

  // Receives from any rank.
  // Requires: no other message arrives on this wire meanwhile.
  virtual Ticket receive_from_any(std::span<std::byte> bytes) = 0;

  // Returns the number of different marks, equal on all ranks; 1 if the wire has none.
  virtual Mark marks() const = 0;
  // Sets the mark of the messages and receives that start later. A receive only matches messages of
  // its mark. The first mark is 0.
  virtual void set_mark(Mark mark) = 0;
  // Returns the peers from which receives are not complete.
  virtual std::vector<int> awaited() const = 0;
  // Returns the mark of the first message from a peer that has arrived and that no receive matches.
  virtual std::optional<Mark> first_unexpected(int peer) = 0;
  // Cancels the receives from a peer that no message matches yet. Returns whether there was one.
  // Their tickets must not be tested again.
  virtual bool cancel_receives(int peer) = 0;
  // Sends a copy of a small message with that mark.
  virtual void post(int peer, Mark mark, std::span<const std::byte> bytes) = 0;
  // Makes progress for a while, so that posted messages leave even if this rank does not call
  // again.
  virtual void deliver_posted() = 0;
  // Receives a message with that mark if one has arrived. read_any() returns the sender.
  virtual bool read(int peer, Mark mark, std::span<std::byte> bytes) = 0;
  virtual std::optional<int> read_any(Mark mark, std::span<std::byte> bytes) = 0;
};

// A wire between some ranks: peer i is ranks[i]. Keeps references.
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

// Counts the messages that ranks of this process have sent to other nodes. Thread-safe.
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

// A buffer that messages are sent from or received into. If an exception ends a call, messages may
// still be in flight, so the destructor then leaks the memory.
class MessageBuffer {
 public:
  explicit MessageBuffer(std::size_t bytes = 0)
      : bytes_(std::make_unique<std::vector<std::byte>>(bytes)) {}
  MessageBuffer(MessageBuffer&&) = default;
  MessageBuffer& operator=(MessageBuffer&&) = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): leaked on purpose, see above
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

// The messages in flight of one rank. Empty messages are not sent or received.
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

  // Does not block. Returns true once no message is in flight.
  bool advance() {
    std::erase_if(tickets_, [this](schedules::Wire::Ticket ticket) { return is_done(ticket); });
    return tickets_.empty();
  }
  // Returns whether a message had another size than its buffer; the excess was lost.
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

// Waits until messages->advance() returns true, by the same policy as a rank that waits for flags.
// Calls meanwhile() once. If an exception ends the wait, the messages and their buffers are leaked
// because they may still arrive.
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
