// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/allreduce_exchange.h"

namespace huddle::node {

ExchangeAllreduce::ExchangeAllreduce(const Parameters& parameters, const Association& association,
                                     world::Sequence start)
    : association_(association),
      slot_stride_(slot_bytes(parameters.capacity_bytes)),
      first_(start) {}

}  // namespace huddle::node
