// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "runtime/team/bootstrap.h"

namespace huddle::team {

// Connected Unix sockets with a deadline: whole messages, or an error that says what happened.

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// Milliseconds until then as poll() takes them: at least one while the deadline is not reached.
int poll_timeout_ms(Deadline deadline);

// So much longer than rank 0 itself the others wait for what it has to say, so that all hear from
// it who did not come in time.
inline constexpr std::chrono::seconds hub_grace{2};

// Two connected ends. Throws FailureError.
std::pair<FileDescriptor, FileDescriptor> stream_pair();

// Both throw FailureError: the deadline has passed, or the other end is closed or dead.
void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline);

// What is there, without waiting: the number of bytes, 0 where there is none. Throws FailureError
// where the other end is closed or dead.
std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes);

// An allgather over connected sockets: rank 0 is the hub, every other rank has one socket to it.
// When a member dies, all the others are told at once.

// One rank's sockets: the hub's by rank, with none for itself; anybody else's is the hub alone.
using HubSockets = std::vector<FileDescriptor>;

// The sockets of every rank, connected to one another. Throws FailureError.
std::vector<HubSockets> connected_hub_sockets(int ranks);

// Each allgather throws FailureError on every rank where a member dies, where the members do not
// call it with the same number of bytes, or where one of them stays away for longer than `limit`;
// so does every later one. Not for several threads at once.
Bootstrap hub_bootstrap(int rank, int ranks, HubSockets sockets, std::chrono::milliseconds limit);

// How long members may be apart unless something else is asked for.
inline constexpr std::chrono::minutes default_hub_limit{5};

// A bootstrap for processes that one process forks: made before, joined by each after.
class ForkBootstrap {
 public:
  // Throws FailureError where there are not enough descriptors: two a rank.
  explicit ForkBootstrap(int ranks, std::chrono::milliseconds limit = default_hub_limit);

  // In a process of its own: takes the rank's place and lets go of everybody else's.
  Bootstrap join(int rank);
  // In a thread of its own: takes the rank's place only. Not for several threads at once.
  Bootstrap take(int rank);
  // For the process that forks and is no rank: as long as it holds the places, nobody would notice
  // that a rank has died.
  void leave() { places_.clear(); }

 private:
  std::vector<HubSockets> places_;
  int ranks_;
  std::chrono::milliseconds limit_;
};

// A bootstrap for processes that were started apart: they meet under the name of a path. Nothing is
// made at that path, and nothing stays behind, however they end.

// Rank 0 may come last. All ranks belong to one user and one network namespace. Throws FailureError
// on all who have come where a rank is missing after `limit`, comes twice, is out of range, or does
// not agree on the number of ranks; whoever has met rank 0 waits until it knows, and not so
// long where one who has come dies. One meeting at a time under a path.
Bootstrap path_bootstrap(const std::string& path, int rank, int ranks,
                         std::chrono::milliseconds limit);

}  // namespace huddle::team
