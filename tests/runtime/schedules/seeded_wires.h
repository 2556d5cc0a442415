// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Wires between ranks of one process with an adversarial scheduler that depends on a seed: messages
// take any time, ranks start late, sends complete immediately or only when their receiver has the
// data. Receive buffers hold garbage until the message is complete.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/schedules/execution.h"

namespace huddle::schedules::test {

class SeededWires {
 public:
  SeededWires(int ranks, unsigned seed) : random_(seed) {
    waits_for_receiver_ = random_() % 2 == 0;
    for (int rank = 0; rank < ranks; ++rank) {
      ends_.emplace_back(*this, rank);
      begins_at_.push_back(random_() % 4 == 0 ? random_() % 200 : 0);
    }
  }

  Wire& end(int rank) { return ends_[static_cast<std::size_t>(rank)]; }

  // Runs all executions until they are complete. Throws if none can proceed.
  void run(std::vector<std::unique_ptr<Execution>>& executions) {
    std::vector<std::size_t> left;
    for (std::size_t rank = 0; rank < executions.size(); ++rank) left.push_back(rank);
    std::uint64_t last_event = 0;
    while (!left.empty()) {
      ++now_;
      const std::size_t at = random_() % left.size();
      const std::size_t rank = left[at];
      if (now_ < begins_at_[rank]) continue;
      const std::size_t events = events_;
      if (executions[rank]->advance()) {
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
        last_event = now_;
      }
      if (events_ != events) last_event = now_;
      if (now_ > last_event + 10000 + 200 * executions.size()) {
        throw std::runtime_error("all ranks are blocked");
      }
    }
  }

 private:
  struct Message {
    std::span<const std::byte> source;
    std::vector<std::byte> kept;  // for a send that completed immediately
    bool is_kept = false;
    std::span<std::byte> target;
    bool has_sender = false;
    bool has_receiver = false;
    std::uint64_t ready_at = 0;
    bool arrived = false;
  };
  // The messages of a pair, in order; sender or receiver may be ahead.
  struct Lane {
    std::deque<Message> messages;
    std::size_t sent = 0;
    std::size_t received = 0;
  };
  struct Posted {
    std::pair<int, int> lane;
    std::size_t number;
    bool is_send;
  };

  class End : public Wire {
   public:
    End(SeededWires& wires, int rank) : wires_(wires), rank_(rank) {}
    Ticket send(int peer, std::span<const std::byte> bytes) override {
      return wires_.post_send({rank_, peer}, bytes);
    }
    Ticket receive(int peer, std::span<std::byte> bytes) override {
      return wires_.post_receive({peer, rank_}, bytes);
    }
    bool test(Ticket ticket) override { return wires_.test(ticket); }

   private:
    SeededWires& wires_;
    int rank_;
  };

  Message& message(Lane& lane, std::size_t number) {
    while (lane.messages.size() <= number) lane.messages.emplace_back();
    return lane.messages[number];
  }

  Wire::Ticket post_send(std::pair<int, int> pair, std::span<const std::byte> bytes) {
    Lane& lane = lanes_[pair];
    const std::size_t number = lane.sent++;
    Message& sent = message(lane, number);
    sent.has_sender = true;
    sent.is_kept = !waits_for_receiver_;
    if (sent.is_kept) sent.kept.assign(bytes.begin(), bytes.end());
    sent.source = bytes;
    return posted({pair, number, true}, sent);
  }

  Wire::Ticket post_receive(std::pair<int, int> pair, std::span<std::byte> bytes) {
    Lane& lane = lanes_[pair];
    const std::size_t number = lane.received++;
    Message& expected = message(lane, number);
    expected.has_receiver = true;
    expected.target = bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
    return posted({pair, number, false}, expected);
  }

  Wire::Ticket posted(const Posted& what, Message& which) {
    ++events_;
    if (which.has_sender && which.has_receiver) which.ready_at = now_ + random_() % 100;
    posted_.push_back(what);
    return static_cast<Wire::Ticket>(posted_.size() - 1);
  }

  bool test(Wire::Ticket ticket) {
    const Posted& what = posted_[static_cast<std::size_t>(ticket)];
    Message& which = lanes_[what.lane].messages[what.number];
    if (what.is_send && which.is_kept) return true;
    if (which.arrived) return true;
    if (!which.has_sender || !which.has_receiver || now_ < which.ready_at) return false;
    const std::span<const std::byte> source = which.is_kept ? which.kept : which.source;
    if (source.size() != which.target.size()) throw std::runtime_error("sizes differ");
    std::copy(source.begin(), source.end(), which.target.begin());
    which.arrived = true;
    ++events_;
    return true;
  }

  std::minstd_rand random_;
  bool waits_for_receiver_ = false;
  std::deque<End> ends_;
  std::vector<std::uint64_t> begins_at_;
  std::map<std::pair<int, int>, Lane> lanes_;
  std::vector<Posted> posted_;
  std::uint64_t now_ = 0;
  std::size_t events_ = 0;
};

}  // namespace huddle::schedules::test
