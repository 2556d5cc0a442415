// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/reduce_slices.h"

namespace huddle::node {

SlicedReduce::SlicedReduce(const Parameters& parameters, const ReductionOrder& association,
                           int ranks, world::Sequence start)
    : association_(association),
      others_(static_cast<std::size_t>(ranks) - 1),
      slice_bytes_(parameters.slice_bytes),
      sets_(static_cast<world::Sequence>(parameters.sets)),
      shown_(carver_),
      joined_(carver_),
      fetched_(carver_),
      joined_guard_(joined_, start),
      fetched_guard_(fetched_, start),
      shown_offset_(carver_.take(sets_ * others_ * slice_bytes_, page_bytes)),
      results_offset_(carver_.take(sets_ * slice_bytes_, page_bytes)),
      count_(start) {}

}  // namespace huddle::node
