// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A wire between threads: sent messages are stored in a box for their receiver. A receive gets a
// message when it is tested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/internode/call_check.h"
#include "runtime/internode/messages.h"

namespace huddle::internode::test {

// Shared by the threads of all ranks.
class Mail {
 public:
  using Mark = RankWire::Mark;

  void put(int from, int to, Mark mark, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].push_back({mark, {bytes.begin(), bytes.end()}});
  }
  // Returns whether there was a message with that mark.
  bool take(int from, int to, Mark mark, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (is_cut_) throw std::runtime_error("the wire is cut");
    auto& box = boxes_[{from, to}];
    const auto found = std::ranges::find(box, mark, &Message::mark);
    if (found == box.end()) return false;
    const std::vector<std::byte> message = std::move(found->bytes);
    box.erase(found);
    std::copy_n(message.begin(), std::min(message.size(), bytes.size()), bytes.begin());
    if (message.size() != bytes.size()) throw context::SizesDiffer("a message of another size");
    return true;
  }
  // The same for a message from any rank. Returns the sender.
  std::optional<int> take_any(int to, Mark mark, std::span<std::byte> bytes) {
    int from = -1;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [ends, box] : boxes_) {
        if (ends.second == to && std::ranges::count(box, mark, &Message::mark) > 0) {
          from = ends.first;
        }
      }
    }
    if (from < 0 || !take(from, to, mark, bytes)) return std::nullopt;
    return from;
  }
  // Returns the mark of the first message.
  std::optional<Mark> first(int from, int to) {
    const std::lock_guard lock(mutex_);
    const auto& box = boxes_[{from, to}];
    return box.empty() ? std::nullopt : std::optional(box.front().mark);
  }
  // After this call all receives fail.
  void cut() {
    const std::lock_guard lock(mutex_);
    is_cut_ = true;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    boxes_.clear();
  }
  // Ignores the notices of ranks that waited long.
  bool is_empty() {
    const auto is_data = [](const Message& message) {
      return message.mark == 0 || message.mark >= CallCheck::first_call_mark;
    };
    const std::lock_guard lock(mutex_);
    return std::ranges::none_of(
        boxes_, [&](const auto& box) { return std::ranges::any_of(box.second, is_data); });
  }

 private:
  struct Message {
    Mark mark;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex_;  // guards the following members
  std::map<std::pair<int, int>, std::deque<Message>> boxes_;
  bool is_cut_ = false;
};

// One rank's end of the wire. Receives from one peer are served in their order.
class MailEnd : public RankWire {
 public:
  // `marks`: the number of marks, of which messages have at least one.
  MailEnd(Mail& mail, int rank, Mark marks = 1 << 16) : mail_(mail), rank_(rank), marks_(marks) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    mail_.put(rank_, peer, mark_, bytes);
    return -1;
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    receives_.push_back({peer, mark_, bytes, false});
    return static_cast<Ticket>(receives_.size() - 1);
  }
  Ticket receive_from_any(std::span<std::byte> bytes) override { return receive(anybody, bytes); }
  bool test(Ticket ticket) override {
    if (ticket < 0) return true;
    const auto last = static_cast<std::size_t>(ticket);
    const int peer = receives_[last].peer;
    for (std::size_t at = 0; at <= last; ++at) {
      Receive& receive = receives_[at];
      if (receive.peer != peer || receive.done) continue;
      try {
        receive.done = peer == anybody
                           ? mail_.take_any(rank_, receive.mark, receive.bytes).has_value()
                           : mail_.take(peer, rank_, receive.mark, receive.bytes);
      } catch (const context::SizesDiffer&) {
        receive.done = true;
        throw;
      }
      if (!receive.done) return false;
    }
    return true;
  }

  Mark marks() const override { return marks_; }
  void set_mark(Mark mark) override { mark_ = mark; }
  std::vector<int> awaited() const override {
    std::vector<int> peers;
    for (const Receive& receive : receives_) {
      if (!receive.done && receive.peer != anybody) peers.push_back(receive.peer);
    }
    return peers;
  }
  // A message that a receive matches is not taken before the receive is tested.
  std::optional<Mark> first_unexpected(int peer) override {
    const std::optional<Mark> first = mail_.first(peer, rank_);
    const bool is_awaited = std::ranges::any_of(receives_, [&](const Receive& receive) {
      return !receive.done && receive.peer == peer && receive.mark == first;
    });
    return is_awaited ? std::nullopt : first;
  }
  bool cancel_receives(int peer) override {
    bool is_any = false;
    for (Receive& receive : receives_) {
      if (receive.peer == peer && !receive.done) is_any = receive.done = true;
    }
    return is_any;
  }
  void post(int peer, Mark mark, std::span<const std::byte> bytes) override {
    mail_.put(rank_, peer, mark, bytes);
  }
  void deliver_posted() override {}
  bool read(int peer, Mark mark, std::span<std::byte> bytes) override {
    return mail_.take(peer, rank_, mark, bytes);
  }
  std::optional<int> read_any(Mark mark, std::span<std::byte> bytes) override {
    return mail_.take_any(rank_, mark, bytes);
  }

 private:
  static constexpr int anybody = -1;
  struct Receive {
    int peer;
    Mark mark;
    std::span<std::byte> bytes;
    bool done;
  };
  Mail& mail_;
  int rank_;
  Mark marks_;
  Mark mark_ = 0;
  std::vector<Receive> receives_;
};

}  // namespace huddle::internode::test
