// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/direct_exchange.h"

namespace huddle::node {

DirectExchange::DirectExchange(const Parameters& parameters, int ranks, world::Sequence start)
    : tile_bytes_(parameters.tile_bytes),
      exposures_(carver_, ranks, start),
      read_offset_(carver_.take(static_cast<std::size_t>(ranks) * flag_bytes)),
      tiles_(static_cast<std::size_t>(ranks), start) {}

}  // namespace huddle::node
