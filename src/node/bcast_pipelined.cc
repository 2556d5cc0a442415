// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/bcast_pipelined.h"

namespace huddle::node {

PipelinedBcast::PipelinedBcast(const Parameters& parameters, const Seats& seats, int rank,
                               world::Sequence start)
    : roles_(parameters.shape, seats, rank),
      fragment_bytes_(parameters.fragment_bytes),
      buffers_(static_cast<world::Sequence>(parameters.buffers)),
      set_(static_cast<world::Sequence>(parameters.buffers / parameters.sets)),
      copy_in_(parameters.copy_in),
      have_(carver_),
      done_(carver_),
      done_guard_(done_, start),
      queue_offset_(carver_.take(buffers_ * fragment_bytes_, page_bytes)),
      count_(start) {}

}  // namespace huddle::node
