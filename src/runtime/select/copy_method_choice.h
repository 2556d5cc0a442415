// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// By which method a block goes through shared memory to readers that have its lines cached: by that
// whose measured hand-off through a ring is predicted to take least, at that size and between those
// two.
#pragma once

#include <optional>

#include "model/machine/cost.h"
#include "runtime/memory/copy_method.h"

namespace huddle::select {

// The curves that a method's descriptor names, as the cost model knows them.
struct CopyMethodCurves {
  machine::HandoffKind write;
  machine::HandoffKind read;
  machine::HandoffKind ring;
  std::optional<machine::HandoffKind> own;
};
const CopyMethodCurves& curves_of(memory::CopyMethod method);

// `bytes` through a ring from one processor to another, by this method.
// Infinity where the machine has no such curve.
double ring_ns(const machine::CostModel& model, memory::CopyMethod method, double bytes, int from,
               int to);

// Whether blocks may go so on this processor, to such readers.
bool is_possible(memory::CopyMethod method, memory::CopyMethods allowed);

// The cheapest method of those possible; plain where nothing is known or all the same.
memory::CopyMethod copy_method_for(const machine::CostModel& model, double bytes, int from, int to,
                                   memory::CopyMethods allowed);

// By which kernel a block is copied that a peer has written, or that a peer has read and this rank
// writes, with no plan that could say so.
memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to);
memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to);

}  // namespace huddle::select
