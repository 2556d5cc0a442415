// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The exchange of file descriptors that set_up.h declares.
#include "runtime/team/set_up.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/unix_socket.h"
#include "runtime/team/peer.h"

namespace huddle::team {
namespace {

constexpr int send_again_ms = 1;   // interval between attempts to send to a full queue
constexpr int look_again_ms = 20;  // interval between checks that the awaited senders are alive

struct Label {
  memory::ArenaId arena;
  std::int32_t rank = 0;
};

constexpr std::size_t parcel_descriptors = 2;

using Outgoing = std::array<int, parcel_descriptors>;  // the arena and this process

enum class Sent { yes, not_now, never };

Sent send_descriptors(const DescriptorSocket& socket, const Outgoing& numbers, const Label& label,
                      const DescriptorSocket::Name& to) {
  const AbstractAddress address({to.data(), to.size()});
  const auto bytes = std::as_bytes(std::span(&label, 1));
  if (send_message(socket.socket(), bytes, numbers, MSG_DONTWAIT, &address) >= 0) return Sent::yes;
  // ETOOMANYREFS: this user has too many descriptors in flight. Sending succeeds again when
  // receivers have read some of them.
  const bool is_full = errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS;
  return is_full || errno == EINTR ? Sent::not_now : Sent::never;
}

struct Received {
  Label label;
  bool is_from_same_user = false;
  bool is_whole = false;
  ReceivedDescriptors descriptors;
};

// Returns nothing if no message is pending.
std::optional<Received> receive_descriptors(const DescriptorSocket& socket) {
  Received received;
  ReceivedMessage message = receive_message(
      socket.socket(), std::as_writable_bytes(std::span(&received.label, 1)), MSG_DONTWAIT);
  if (message.bytes < 0) return std::nullopt;
  received.is_from_same_user = message.sender && message.sender->uid == geteuid();
  received.is_whole =
      message.bytes == sizeof received.label && message.descriptors.size() == parcel_descriptors;
  if (received.is_whole) {
    received.descriptors = {std::move(message.descriptors[0]), std::move(message.descriptors[1])};
  }
  return received;
}

class Exchange {
 public:
  Exchange(const DescriptorSocket& socket, ExchangeTask task, Deadline deadline)
      : socket_(socket), task_(std::move(task)), deadline_(deadline) {}

  void run(const std::function<void(int, ReceivedDescriptors)>& received) {
    give_up_the_unreachable();
    while (!task_.send_to.empty() || !task_.receive_from.empty()) {
      const bool has_sent = send_what_goes();
      const bool has_received = receive_what_came(received);
      if (!has_sent && !has_received) wait();
    }
    if (trouble_.is_any()) throw FailureError(std::string(trouble_.text()));
  }

 private:
  bool send_what_goes() {
    const Label label{address(task_.rank).arena, task_.rank};
    return std::erase_if(task_.send_to, [&](int rank) {
             const auto& name = task_.names[static_cast<std::size_t>(rank)];
             const Sent sent =
                 send_descriptors(socket_, {task_.arena, socket_.process().number()}, label, name);
             if (sent == Sent::never) {
               note(fmt::format("cannot send file descriptors to rank {}: {}", rank,
                                std::strerror(errno)));
             }
             return sent != Sent::not_now;
           }) != 0;
  }

  bool receive_what_came(const std::function<void(int, ReceivedDescriptors)>& deliver) {
    auto received = receive_descriptors(socket_);
    if (!received) return false;
    const auto from =
        std::find(task_.receive_from.begin(), task_.receive_from.end(), received->label.rank);
    // Ignores messages from outside the team: only its ranks know the ids of the arenas.
    const bool is_ours =
        from != task_.receive_from.end() && address(*from).arena == received->label.arena;
    if (!is_ours) return true;
    const int rank = *from;
    task_.receive_from.erase(from);
    const RankError rank_error = RankError::of([&] {
      if (!received->is_from_same_user) {
        throw FailureError(
            fmt::format("rank {} runs as another user; start all ranks as one user", rank));
      }
      if (!received->is_whole) {
        throw FailureError(
            "no file descriptor is left to receive that of another rank; raise `ulimit -n`");
      }
      deliver(rank, std::move(received->descriptors));
    });
    if (rank_error.is_any()) trouble_ = rank_error;
    return true;
  }

  void wait() {
    pollfd watched{socket_.socket().number(), POLLIN, 0};
    const int left_ms = poll_timeout_ms(deadline_);
    if (left_ms == 0) {
      throw FailureError(
          "another rank did not send its file descriptors within the time limit; check that all "
          "ranks run");
    }
    if (!task_.send_to.empty()) {
      poll(&watched, 1, std::min(send_again_ms, left_ms));
    } else if (poll(&watched, 1, std::min(look_again_ms, left_ms)) == 0) {
      give_up_the_dead();
    }
  }

  // All ranks keep their sockets open until the exchange has ended on all of them. A rank whose
  // socket cannot be found now is therefore unreachable, and nothing will arrive from it.
  void give_up_the_unreachable() {
    const auto give_up_some = [this](std::vector<int>& ranks) {
      std::erase_if(ranks, [this](int rank) {
        if (socket_.finds(task_.names[static_cast<std::size_t>(rank)])) return false;
        note(fmt::format(
            "rank {} cannot be reached: it has ended, or is on another machine or in another "
            "network namespace; run all ranks of a team in one container",
            rank));
        return true;
      });
    };
    give_up_some(task_.send_to);
    give_up_some(task_.receive_from);
  }

  void give_up_the_dead() {
    const ProcessIdentity& me = address(task_.rank).process;
    for (const int rank : task_.receive_from) {
      if (share_process_ids(me, address(rank).process) && has_died(address(rank).process)) {
        throw FailureError(fmt::format("rank {} has died; see its output for the reason", rank));
      }
    }
  }

  void note(const std::string& text) {
    if (!trouble_.is_any()) trouble_ = RankError(text);
  }
  const PeerAddress& address(int rank) const {
    return task_.addresses[static_cast<std::size_t>(rank)];
  }

  const DescriptorSocket& socket_;
  ExchangeTask task_;
  Deadline deadline_;
  RankError trouble_;
};

}  // namespace

DescriptorSocket::DescriptorSocket()
    : process_(own_process()),
      socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      probe_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const auto random = memory::ArenaId::random().words;
  const std::string text = fmt::format("huddle-{:016x}{:016x}", random[0], random[1]);
  std::copy_n(text.begin(), std::min(text.size(), name_.size()), name_.begin());
  const AbstractAddress address({name_.data(), name_.size()});
  const int yes = 1;
  if (socket_.is_open() && probe_.is_open() &&
      setsockopt(socket_.number(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
      bind(socket_.number(), address.generic(), address.length) == 0) {
    return;
  }
  throw FailureError(fmt::format(
      "cannot create a socket for file descriptors: {}; raise `ulimit -n` if they are exhausted",
      std::strerror(errno)));
}

// Connecting a datagram socket looks up the peer's address and sends nothing.
bool DescriptorSocket::finds(const Name& other) const {
  const AbstractAddress address({other.data(), other.size()});
  return connect(probe_.number(), address.generic(), address.length) == 0;
}

void exchange_descriptors(const DescriptorSocket& socket, ExchangeTask task, Deadline deadline,
                          const std::function<void(int, ReceivedDescriptors)>& received) {
  Exchange(socket, std::move(task), deadline).run(received);
}

}  // namespace huddle::team
