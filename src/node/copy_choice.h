// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which copy kernel brings a block into shared memory that its reader has cached: the one whose
// measured hand-off through a ring is predicted to take least, at that size and between those two.
#pragma once

#include "machine/cost.h"
#include "memory/copy.h"

namespace huddle::node {

// The hand-off that stands for this kernel.
machine::HandoffKind ring_kind(memory::CopyKernel kernel);

// `bytes` through a ring from one processor to another, written by this kernel.
// Infinity where the machine has no such curve.
double ring_ns(const machine::CostModel& model, memory::CopyKernel kernel, double bytes, int from,
               int to);

// The cheapest kernel of those that this processor has; plain where nothing is known or all the
// same.
memory::CopyKernel copy_kernel_for(const machine::CostModel& model, double bytes, int from, int to);

// By that kernel.
double ring_ns(const machine::CostModel& model, double bytes, int from, int to);

}  // namespace huddle::node
