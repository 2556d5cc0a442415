// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How much shared memory a team's protocols get, and what follows from it. Equal on all ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/cost.h"
#include "node/allreduce_exchange.h"
#include "node/bcast_inline.h"
#include "node/bcast_pipelined.h"
#include "node/bcast_segments.h"
#include "node/reduce_slices.h"
#include "node/reduce_tree.h"
#include "node/seats.h"

namespace huddle::select {

struct Provision {
  std::vector<node::Shape> shapes;  // trees worth a thought in a team of this size
  node::InlineBcast::Parameters inline_bcast;
  node::PipelinedBcast::Parameters pipelined_bcast;
  node::SegmentedBcast::Parameters segmented_bcast;
  node::ExchangeAllreduce::Parameters exchange;
  node::TreeReduce::Parameters tree_reduce;
  node::SlicedReduce::Parameters sliced_reduce;
};

// queue_bytes: the most that a rank gives to each of the algorithms that move much.
Provision provision(const node::Seats& seats, const machine::CostModel& model,
                    std::size_t queue_bytes);

}  // namespace huddle::select
