// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/reduce_tree.h"

namespace huddle::node {

TreeReduce::TreeReduce(const Parameters& parameters, const Association& association,
                       world::Sequence start)
    : association_(association),
      capacity_bytes_(parameters.capacity_bytes),
      slot_stride_(round_up(payload_offset + capacity_bytes_, apart_bytes)),
      slots_(static_cast<world::Sequence>(parameters.slots)),
      top_(parameters.top),
      done_(carver_),
      done_guard_(done_, start),
      shown_offset_(carver_.take(slots_ * slot_stride_)),
      results_offset_(carver_.take(slots_ * slot_stride_)),
      round_(start) {}

}  // namespace huddle::node
