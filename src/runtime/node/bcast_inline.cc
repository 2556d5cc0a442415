// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/bcast_inline.h"

namespace huddle::node {

InlineBcast::InlineBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                         world::Sequence start)
    : roles_(parameters.shapes, locality, rank),
      done_(carver_),
      done_guard_(done_, start),
      slots_(static_cast<world::Sequence>(parameters.slots)),
      slot_stride_(slot_bytes(parameters.capacity_bytes)),
      slots_offset_(carver_.take(slots_ * slot_stride_)),
      call_(start) {}

}  // namespace huddle::node
