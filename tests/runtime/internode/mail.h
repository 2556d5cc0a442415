// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A wire between threads: sent messages are stored in a box for their receiver.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/internode/messages.h"

namespace huddle::internode::test {

// Shared by the threads of all ranks.
class Mail {
 public:
  void put(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].emplace_back(bytes.begin(), bytes.end());
  }
  // Returns whether there was a message.
  bool take(int from, int to, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    if (is_cut_) throw std::runtime_error("the wire is cut");
    auto& box = boxes_[{from, to}];
    if (box.empty()) return false;
    const std::vector<std::byte> message = std::move(box.front());
    box.pop_front();
    std::copy_n(message.begin(), std::min(message.size(), bytes.size()), bytes.begin());
    if (message.size() > bytes.size()) throw context::SizesDiffer("too large a message");
    return true;
  }
  // The same for a message from any rank.
  bool take_any(int to, std::span<std::byte> bytes) {
    int from = -1;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [ends, box] : boxes_) {
        if (ends.second == to && !box.empty()) from = ends.first;
      }
    }
    return from >= 0 && take(from, to, bytes);
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
  bool is_empty() {
    const std::lock_guard lock(mutex_);
    for (const auto& [ends, box] : boxes_) {
      if (!box.empty()) return false;
    }
    return true;
  }

 private:
  std::mutex mutex_;  // guards the following members
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
  bool is_cut_ = false;
};

// One rank's end of the wire. Receives from one peer are served in their order.
class MailEnd : public RankWire {
 public:
  MailEnd(Mail& mail, int rank) : mail_(mail), rank_(rank) {}

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    mail_.put(rank_, peer, bytes);
    return -1;
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    receives_.push_back({peer, bytes, false});
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
        receive.done = peer == anybody ? mail_.take_any(rank_, receive.bytes)
                                       : mail_.take(peer, rank_, receive.bytes);
      } catch (const context::SizesDiffer&) {
        receive.done = true;
        throw;
      }
      if (!receive.done) return false;
    }
    return true;
  }

 private:
  static constexpr int anybody = -1;
  struct Receive {
    int peer;
    std::span<std::byte> bytes;
    bool done;
  };
  Mail& mail_;
  int rank_;
  std::vector<Receive> receives_;
};

}  // namespace huddle::internode::test
