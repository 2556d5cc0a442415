// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/departures.h"

#include <fmt/format.h>

#include "runtime/context/peer_lost.h"

namespace huddle::node {

void Departures::tell_of(int owner) {
  throw world::PeerLost(fmt::format("rank {} has left a call in the middle", owner));
}

}  // namespace huddle::node
