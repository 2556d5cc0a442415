// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Element-wise reductions of two arrays: the arithmetic of collectives.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/memory/types.h"

namespace huddle::memory {

// Computes to[i] = left[i] op right[i]. `to` equals `left`, equals `right`, or overlaps neither;
// `left` and `right` may be the same. The previous content of `to` is ignored unless `to` is an
// operand.
using CombineFunction = void(void* to, const void* left, const void* right, std::size_t count,
                             void* context);

struct Reduction {
  CombineFunction* combine = nullptr;
  void* context = nullptr;  // passed to `combine` unchanged
  std::size_t element_bytes = 0;
  // True if the operator is commutative. huddle never swaps the operands, so that results always
  // have the same bits; if false, it must not combine ranks in another order either.
  bool commutative = true;

  void operator()(void* to, const void* left, const void* right, std::size_t count) const {
    combine(to, left, right, count, context);
  }
};

// Returns the built-in reduction for this element type and operator. The arrays need no alignment.
// The bits of a result depend only on its two operands, not on their addresses, the number of
// elements or the CPU (except for long double, whose format depends on the CPU).
// - Integers wrap. Logical results are 0 or 1.
// - float16 and bfloat16 are computed as float and rounded to nearest, ties to even, in each step.
// - Complex products are (ac - bd, ad + bc), without corrections for infinities.
// - If a sum or product is NaN, it is always the same quiet NaN.
// - min and max: the result is NaN if an operand is NaN, and -0 is less than +0.
// - min and max with location: an element whose value is NaN is selected before any other, and -0
//   equals +0. If the values are equal, the element with the lower index is selected. The selected
//   element is copied unchanged.
// Requires: is_defined(type, op).
Reduction reduction(Type type, Operator op);

// Returns the reduction for types that have no vector instructions: long double, its complex type
// and value-index pairs. Returns null for all other types.
CombineFunction* find_scalar(Type type, Operator op);

// Reductions with vector instructions, compiled once per instruction set.
struct VectorTarget {
  std::string_view name;
  bool (*runs_here)();
  // Returns null for types that find_scalar() handles.
  CombineFunction* (*find)(Type, Operator);
};

// Returns the instruction sets of this build, best first. All compute the same bits; the last one
// runs on every CPU.
std::span<const VectorTarget> vector_targets();

}  // namespace huddle::memory
