// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/fork_bootstrap.h"

#include <utility>

namespace huddle::team {

ForkBootstrap::ForkBootstrap(int ranks, std::chrono::milliseconds limit)
    : places_(connected_hub_sockets(ranks)), ranks_(ranks), limit_(limit) {}

Bootstrap ForkBootstrap::take(int rank) {
  return hub_bootstrap(rank, ranks_, std::move(places_.at(static_cast<std::size_t>(rank))), limit_);
}

Bootstrap ForkBootstrap::join(int rank) {
  Bootstrap mine = take(rank);
  leave();
  return mine;
}

}  // namespace huddle::team
