// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/bcast_pipelined.h"

namespace huddle::node {

PipelinedBcast::PipelinedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                               world::Sequence start)
    : roles_(parameters.shapes, locality, rank),
      cell_bytes_(parameters.cell_bytes),
      set_(static_cast<world::Sequence>(parameters.set_cells)),
      queue_(set_ * static_cast<world::Sequence>(parameters.sets)),
      have_(carver_),
      done_(carver_),
      done_guard_(done_, start),
      queue_offset_(carver_.take(queue_ * cell_bytes_, page_bytes)),
      count_(start),
      begin_(start) {}

}  // namespace huddle::node
