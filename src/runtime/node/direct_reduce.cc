// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/direct_reduce.h"

namespace huddle::node {

DirectReduce::DirectReduce(const Parameters& parameters, const ReductionOrder& association,
                           world::Sequence start)
    : association_(association),
      block_bytes_(parameters.block_bytes),
      cells_(static_cast<world::Sequence>(parameters.cells)),
      exposures_(carver_, 2, start),
      joined_(carver_),
      fetched_(carver_),
      cells_offset_(
          carver_.take(static_cast<std::size_t>(parameters.cells) * block_bytes_, page_bytes)),
      rounds_(start) {}

}  // namespace huddle::node
