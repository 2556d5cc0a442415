// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/presence.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <span>

#include "common/unix_socket.h"

namespace huddle::mpi {
namespace {

constexpr char yes_word = 'y';
constexpr char no_word = 'n';

}  // namespace

Presence::Presence(std::optional<JobRank> place, const std::string& kind)
    : place_(std::move(place)) {
  if (!place_) return;
  prefix_ = fmt::format("huddle-{}-{:016x}-", geteuid(),
                        std::hash<std::string>()(place_->job + ' ' + kind));
}

std::string Presence::name_of(int rank) const { return prefix_ + std::to_string(rank); }

void Presence::announce_presence() {
  const std::lock_guard lock(mutex_);
  if (!place_ || own_.is_open()) return;
  FileDescriptor probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  FileDescriptor own(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // A process that cannot look for other ranks must not be visible to them either.
  if (!probe.is_open() || !own.is_open()) return;
  const AbstractAddress address(name_of(place_->rank));
  const int yes = 1;
  // If another process has bound the name, this rank is visible as well. It is sufficient that all
  // ranks see the same.
  can_hear_ = setsockopt(own.number(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0 &&
              bind(own.number(), address.generic(), address.length) == 0;
  probe_ = std::move(probe);
  own_ = std::move(own);
}

void Presence::confirm(int rank) {
  const std::lock_guard lock(mutex_);
  if (!place_ || rank == place_->rank) return;
  own_ = FileDescriptor();
  probe_ = FileDescriptor();
  can_hear_ = false;
}

bool Presence::is_here(int rank) {
  if (!place_) return true;
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= seen_.size()) seen_.resize(index + 1);
  if (!seen_[index]) {
    const AbstractAddress address(name_of(rank));
    seen_[index] =
        probe_.is_open() && connect(probe_.number(), address.generic(), address.length) == 0;
  }
  return seen_[index];
}

std::optional<int> Presence::first_here(int ranks) {
  if (!place_ || !can_hear_) return std::nullopt;
  for (int rank = 0; rank < ranks; ++rank) {
    if (is_here(rank)) return rank;
  }
  return std::nullopt;
}

void Presence::tell_others(int ranks, bool answer) {
  const char word = answer ? yes_word : no_word;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == place_->rank || !is_here(rank)) continue;
    const AbstractAddress address(name_of(rank));
    // A rank that does not receive the result determines it itself.
    (void)sendto(own_.number(), &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT, address.generic(),
                 address.length);
  }
}

std::optional<bool> Presence::hear(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting{own_.number(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) == 0) {
      return std::nullopt;
    }
    char word = no_word;
    const ReceivedMessage message =
        receive_message(own_, std::as_writable_bytes(std::span(&word, 1)), MSG_DONTWAIT);
    if (message.bytes < 0 && errno != EINTR && errno != EAGAIN) return std::nullopt;
    if (message.bytes <= 0 || !message.sender) continue;
    // Any process on this node may send to this name, so the sender's user ID is checked.
    if (message.sender->uid == getuid()) return word == yes_word;
  }
}

}  // namespace huddle::mpi
