// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "node/association.h"
#include "select/candidate.h"
#include "select/prices.h"

namespace huddle::select {

std::vector<Candidate> reduce_candidates(const Prices& prices, const Provision& provision,
                                         const Request& request);

double exchange_ns(const Prices& prices, std::size_t bytes,
                   const node::ExchangeAllreduce::Plan& plan);
// to_all: of an allreduce; otherwise of a reduce.
double tree_reduce_ns(const Prices& prices, const node::Association& association, int slots,
                      std::size_t bytes, const node::TreeReduce::Plan& plan, bool to_all);
double sliced_reduce_ns(const Prices& prices, int sets, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, bool to_all);

}  // namespace huddle::select
