// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/reduce_tree.h"

namespace huddle::node {

TreeReduce::TreeReduce(const Parameters& parameters, const ReductionOrder& association,
                       world::Sequence start)
    : association_(association),
      slot_stride_(slot_bytes(parameters.capacity_bytes)),
      slots_(static_cast<world::Sequence>(parameters.slots)),
      done_(carver_),
      done_guard_(done_, start),
      shown_offset_(carver_.take(slots_ * slot_stride_)),
      results_offset_(carver_.take(slots_ * slot_stride_)),
      round_(start) {}

}  // namespace huddle::node
