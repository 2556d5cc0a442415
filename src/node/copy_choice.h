// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a block passes through shared memory to readers that have its lines cached: in the manner
// whose measured hand-off through a ring is predicted to take least, at that size and between those
// two.
#pragma once

#include "machine/cost.h"
#include "memory/passing.h"

namespace huddle::node {

// The hand-off that stands for this manner.
machine::HandoffKind ring_kind(const memory::Passing& passing);

// `bytes` through a ring from one processor to another, passed in this manner.
// Infinity where the machine has no such curve.
double ring_ns(const machine::CostModel& model, const memory::Passing& passing, double bytes,
               int from, int to);

// Whether blocks may pass so on this processor, to such readers.
bool is_possible(const memory::Passing& passing, memory::Passings allowed);

// The cheapest manner of those possible; plain where nothing is known or all the same.
memory::Passing passing_for(const machine::CostModel& model, double bytes, int from, int to,
                            memory::Passings allowed);

// By which kernel a block is copied that a peer has written, or that a peer has read and this rank
// writes, with no plan that could say so.
memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to);
memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to);

}  // namespace huddle::node
