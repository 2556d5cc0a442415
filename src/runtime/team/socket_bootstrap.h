// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Bootstraps over Unix sockets for ranks on one machine: one for processes that a common parent
// forks, and one for separately started processes that pass the same path as the name of their
// rendezvous.
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

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
inline constexpr Deadline no_deadline = Deadline::max();

// Returns a timeout for poll(): the time until the deadline, rounded up and at most one hour; 0
// after the deadline.
int poll_timeout_ms(Deadline deadline);

// Returns a connected pair of stream sockets. Throws FailureError.
std::pair<FileDescriptor, FileDescriptor> stream_pair();

// Send or receive all of `bytes`. Throw FailureError if the deadline passes or the other end is
// closed.
void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline);
void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline);

// Receives available bytes without waiting. Returns their number, which may be 0. Throws
// FailureError if the other end is closed.
std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes);

// The sockets of one rank. Rank 0 is the hub and has one socket per rank, indexed by rank, with a
// closed one for itself. Every other rank has only the socket to the hub.
using HubSockets = std::vector<FileDescriptor>;

// Returns the connected sockets of each rank. Throws FailureError.
std::vector<HubSockets> connected_hub_sockets(int ranks);

// Returns a bootstrap over connected sockets. An allgather waits for all ranks without a limit,
// because ranks may have much to do before they create a team. It throws FailureError on all ranks
// if a rank dies or if the ranks pass different numbers of bytes; later allgathers throw, too. The
// death of a rank is noticed immediately. Not thread-safe.
Bootstrap hub_bootstrap(int rank, int ranks, HubSockets sockets);

// A bootstrap for forked processes. It is created before the fork; each child joins it.
class ForkBootstrap {
 public:
  // Throws FailureError if this process cannot open enough descriptors; two per rank are needed.
  explicit ForkBootstrap(int ranks);

  // For a rank that is a process: returns its bootstrap and closes the sockets of all other ranks.
  Bootstrap join(int rank);
  // For a rank that is a thread: returns its bootstrap. Not thread-safe.
  Bootstrap take(int rank);
  // For the forking process, if it is not a rank: closes all sockets. While it keeps them open, the
  // ranks cannot notice that a rank has died.
  void leave() { places_.clear(); }

 private:
  std::vector<HubSockets> places_;
  int ranks_;
};

// Returns a bootstrap for processes that were started separately and pass the same path, which only
// names the rendezvous: no file is created, and nothing remains however the processes end. Ranks
// may arrive in any order. Throws FailureError on all ranks that have arrived if a rank is missing
// after `limit`, arrives twice, is out of range, or passes a different number of ranks, or if a
// rank that has arrived dies. After a rank has connected to rank 0, it waits for the answer for up
// to another `limit`, because rank 0 may have just arrived.
// Requires: all ranks belong to one user and one network namespace; a path is used for one
// rendezvous at a time.
Bootstrap path_bootstrap(const std::string& path, int rank, int ranks,
                         std::chrono::milliseconds limit);

}  // namespace huddle::team
