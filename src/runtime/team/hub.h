// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An allgather over connected sockets: rank 0 is the hub, every other rank has one socket to it.
// When a member dies, all the others are told at once.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "runtime/team/bootstrap.h"
#include "runtime/team/stream.h"

namespace huddle::team {

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

}  // namespace huddle::team
