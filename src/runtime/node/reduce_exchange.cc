// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/reduce_exchange.h"

namespace huddle::node {

ExchangeReduce::ExchangeReduce(const Parameters& parameters, const ReductionOrder& association,
                               world::Sequence start)
    : association_(association),
      lines_(parameters.lines),
      slot_stride_(round_up(parameters.capacity_bytes, apart_bytes)),
      first_(start),
      seen_(start) {}

}  // namespace huddle::node
