// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Wires over sockets: each pair of ranks has a stream whose buffers are as small as the kernel
// allows, so that long messages are sent piecewise and wait for receivers. Ranks are threads.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/schedules/execution.h"

namespace huddle::schedules::test {

class SocketEnd : public Wire {
 public:
  explicit SocketEnd(int ranks) : peers_(static_cast<std::size_t>(ranks)) {}
  SocketEnd(const SocketEnd&) = delete;
  SocketEnd& operator=(const SocketEnd&) = delete;
  ~SocketEnd() override {
    for (const Peer& peer : peers_) {
      if (peer.socket >= 0) ::close(peer.socket);
    }
  }

  void connect(int peer, int socket) { of(peer).socket = socket; }

  Ticket send(int peer, std::span<const std::byte> bytes) override {
    Sent sent{{}, bytes, 0, ticket(peer)};
    const std::uint64_t size = bytes.size();
    std::memcpy(sent.head, &size, sizeof size);
    of(peer).sends.push_back(sent);
    return sent.ticket;
  }
  Ticket receive(int peer, std::span<std::byte> bytes) override {
    of(peer).receives.push_back({{}, bytes, 0, ticket(peer)});
    return of(peer).receives.back().ticket;
  }
  bool test(Ticket ticket) override {
    Posted& posted = posted_[static_cast<std::size_t>(ticket)];
    if (!posted.done) go_on(of(posted.peer));
    return posted.done;
  }

  // Blocks until the kernel accepts or has data for a pending message.
  void wait() {
    constexpr int long_enough_ms = 120'000;  // sufficient on a busy machine
    std::vector<pollfd> polled;
    for (const Peer& peer : peers_) {
      const int events = (peer.sends.empty() ? 0 : POLLOUT) | (peer.receives.empty() ? 0 : POLLIN);
      if (events != 0) polled.push_back({peer.socket, static_cast<short>(events), 0});
    }
    if (polled.empty()) return;  // the last test of a peer may have finished another ticket's part
    const int ready = ::poll(polled.data(), polled.size(), long_enough_ms);
    if (ready == 0) throw std::runtime_error("all ranks are blocked");
    if (ready < 0 && errno != EINTR) fail("poll");
  }

  // Closes all connections, so that peers that wait for this rank get an error.
  void leave() {
    for (const Peer& peer : peers_) {
      if (peer.socket >= 0) ::shutdown(peer.socket, SHUT_RDWR);
    }
  }

 private:
  static constexpr std::size_t head_bytes = sizeof(std::uint64_t);

  template <typename Bytes>
  struct Message {
    std::byte head[head_bytes];  // size of the message
    Bytes bytes;
    std::size_t done;  // of head and bytes
    Ticket ticket;
  };
  using Sent = Message<std::span<const std::byte>>;
  using Received = Message<std::span<std::byte>>;
  struct Peer {
    int socket = -1;
    std::deque<Sent> sends;
    std::deque<Received> receives;
  };
  struct Posted {
    int peer;
    bool done;
  };

  Peer& of(int peer) { return peers_[static_cast<std::size_t>(peer)]; }
  Ticket ticket(int peer) {
    posted_.push_back({peer, false});
    return static_cast<Ticket>(posted_.size() - 1);
  }
  [[noreturn]] static void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
  }

  void go_on(Peer& peer) {
    const auto write = [&](const std::byte* from, std::size_t count) {
      return ::send(peer.socket, from, count, MSG_NOSIGNAL);
    };
    const auto read = [&](std::byte* to, std::size_t count) {
      const ssize_t got = ::recv(peer.socket, to, count, 0);
      if (got == 0) throw std::runtime_error("a peer is gone");
      return got;
    };
    move(peer.sends, write);
    move(peer.receives, read);
  }

  // Transfers one message after another, as far as the kernel allows.
  template <typename Messages, typename Transfer>
  void move(Messages& messages, const Transfer& transfer) {
    while (!messages.empty()) {
      auto& message = messages.front();
      while (message.done < head_bytes + message.bytes.size()) {
        const bool in_head = message.done < head_bytes;
        const std::size_t at = in_head ? message.done : message.done - head_bytes;
        const ssize_t moved = in_head
                                  ? transfer(message.head + at, head_bytes - at)
                                  : transfer(message.bytes.data() + at, message.bytes.size() - at);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (moved < 0) fail("socket");
        message.done += static_cast<std::size_t>(moved);
        if (message.done == head_bytes) require_size(message.head, message.bytes.size());
      }
      posted_[static_cast<std::size_t>(message.ticket)].done = true;
      messages.pop_front();
    }
  }

  static void require_size(const std::byte* head, std::size_t expected) {
    std::uint64_t size = 0;
    std::memcpy(&size, head, sizeof size);
    if (size != expected) throw std::runtime_error("sizes differ");
  }

  std::vector<Peer> peers_;
  std::vector<Posted> posted_;
};

class SocketWires {
 public:
  explicit SocketWires(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) ends_.emplace_back(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      for (int peer = 0; peer < rank; ++peer) connect(rank, peer);
    }
  }

  Wire& end(int rank) { return ends_[static_cast<std::size_t>(rank)]; }

  // Runs all executions until they are complete. Throws if one of them fails.
  void run(std::vector<std::unique_ptr<Execution>>& executions) {
    std::exception_ptr failure;
    std::mutex failing;
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < executions.size(); ++rank) {
      threads.emplace_back([&, rank] {
        SocketEnd& end = ends_[rank];
        try {
          while (!executions[rank]->advance()) end.wait();
        } catch (...) {
          end.leave();
          const std::lock_guard lock(failing);
          if (!failure) failure = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void connect(int rank, int peer) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) {
      throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
    }
    const int least = 1;  // the kernel rounds up to its minimum
    for (const int socket : pair) {
      ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
    }
    ends_[static_cast<std::size_t>(rank)].connect(peer, pair[0]);
    ends_[static_cast<std::size_t>(peer)].connect(rank, pair[1]);
  }

  std::deque<SocketEnd> ends_;
};

}  // namespace huddle::schedules::test
