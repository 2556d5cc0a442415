// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/allreduce_exchange.h"

namespace huddle::node {

ExchangeAllreduce::ExchangeAllreduce(const Parameters& parameters, const Association& association,
                                     world::Sequence start)
    : association_(association),
      slot_stride_(round_up(payload_offset + parameters.capacity_bytes, apart_bytes)),
      call_(start) {}

}  // namespace huddle::node
