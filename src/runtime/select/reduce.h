// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "runtime/node/reduction_order.h"
#include "runtime/select/algorithm.h"

namespace huddle::select {

// Of reduce, allreduce, the reductions to blocks, scan and exscan. A rank's data are all blocks
// together.
std::vector<Algorithm> reduce_algorithms(Operation operation, const TeamResources& resources);

double exchange_ns(const Prices& prices, const Request& request,
                   const node::ExchangeReduce::Plan& plan);
// to_all: of an allreduce; otherwise of a reduce.
double tree_reduce_ns(const Prices& prices, const node::ReductionOrder& association, int slots,
                      std::size_t bytes, const node::TreeReduce::Plan& plan, bool to_all);
double sliced_reduce_ns(const Prices& prices, int sets, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, node::ReductionTarget::Kind aim);

}  // namespace huddle::select
