// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/direct_reduce.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"

namespace huddle::node {

ExchangeReduce::ExchangeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                               context::Sequence start)
    : reduction_order_(reduction_order), rounds_(parameters, start) {}

TreeReduce::TreeReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                       context::Sequence start)
    : reduction_order_(reduction_order),
      slot_stride_(slot_bytes(parameters.capacity_bytes)),
      slots_(static_cast<context::Sequence>(parameters.slots)),
      done_(layout_),
      done_guard_(done_, start),
      shown_offset_(layout_.reserve(slots_ * slot_stride_)),
      results_offset_(layout_.reserve(slots_ * slot_stride_)),
      round_(start) {}

SlicedReduce::SlicedReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                           int ranks, context::Sequence start)
    : reduction_order_(reduction_order),
      others_(static_cast<std::size_t>(ranks) - 1),
      slice_bytes_(parameters.slice_bytes),
      sets_(static_cast<context::Sequence>(parameters.sets)),
      shown_(layout_),
      combined_(layout_),
      fetched_(layout_),
      joined_guard_(combined_, start),
      fetched_guard_(fetched_, start),
      shown_offset_(layout_.reserve(sets_ * others_ * slice_bytes_, page_bytes)),
      results_offset_(layout_.reserve(sets_ * slice_bytes_, page_bytes)),
      count_(start) {}

DirectReduce::DirectReduce(const Parameters& parameters, const ReductionOrder& reduction_order,
                           context::Sequence start)
    : reduction_order_(reduction_order),
      block_bytes_(parameters.block_bytes),
      cells_(static_cast<context::Sequence>(parameters.cells)),
      exposures_(layout_, 2, start),
      combined_(layout_),
      fetched_(layout_),
      cells_offset_(
          layout_.reserve(static_cast<std::size_t>(parameters.cells) * block_bytes_, page_bytes)),
      rounds_(start) {}

}  // namespace huddle::node
