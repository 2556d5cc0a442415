// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "select/candidate.h"
#include "select/prices.h"

namespace huddle::select {

std::vector<Candidate> barrier_candidates(const Prices& prices, const Provision& provision);

double tree_barrier_ns(const Prices& prices, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters);
double dissemination_ns(const Prices& prices,
                        const node::DisseminationBarrier::Parameters& parameters);

}  // namespace huddle::select
