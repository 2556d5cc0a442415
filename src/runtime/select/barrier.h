// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "runtime/select/algorithm.h"

namespace huddle::select {

std::vector<Algorithm> barrier_algorithms();

double tree_barrier_ns(const Prices& prices, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters);
double dissemination_ns(const Prices& prices,
                        const node::DisseminationBarrier::Parameters& parameters);

}  // namespace huddle::select
