// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <vector>

#include "runtime/select/algorithm.h"

namespace huddle::select {

std::vector<Algorithm> bcast_algorithms(const TeamResources& resources);

double inline_bcast_ns(const Prices& prices, const node::Tree& tree, int slots, std::size_t bytes);
// After Kurnosov and Tokmasheva's t(m, s), with the copies in and out each at their own price.
double pipelined_bcast_ns(const Prices& prices, const node::Tree& tree, std::size_t queue_bytes,
                          std::size_t bytes, std::size_t fragment_bytes, memory::CopyMethod method);
double segmented_bcast_ns(const Prices& prices, const node::SegmentedBcast& layout,
                          int readers_at_once, std::size_t bytes,
                          const node::SegmentedBcast::Plan& plan);

}  // namespace huddle::select
