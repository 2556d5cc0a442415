// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions of two arrays, element by element: the arithmetic of a collective.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/memory/types.h"

namespace huddle::memory {

// Computes to[i] = left[i] op right[i]. `to` equals `left`, equals `right`, or overlaps neither;
// `left` and `right` may be the same. The previous content of `to` is ignored.
using CombineFunction = void(void* to, const void* left, const void* right, std::size_t count,
                             void* context);

struct Reduction {
  CombineFunction* combine = nullptr;
  void* context = nullptr;  // passed to `combine` unchanged
  std::size_t element_bytes = 0;
  // If false, the operands must not be exchanged. They never are, so that results keep the same
  // bits; this also forbids another order of ranks.
  bool commutative = true;

  void operator()(void* to, const void* left, const void* right, std::size_t count) const {
    combine(to, left, right, count, context);
  }
};

// Returns the built-in reduction of this type by this operator. The arrays need no alignment. The
// bits of a result depend only on the two elements, not on their address, their number or the CPU
// (except for long double, which has the CPU's format).
// - Integers wrap. Logical results are 0 or 1.
// - float16 and bfloat16 are computed as float and rounded to nearest, ties to even, in each step.
// - Complex products are (ac - bd, ad + bc), without corrections for infinities.
// - A sum or product that is not a number is always the same quiet NaN.
// - min and max use one order: NaN comes before all else (the result is NaN if an operand is), and
//   -0 is less than +0.
// - min and max with location: NaN comes before all else, and -0 equals +0. If the
//   values are equal, the element with the lower index is taken unchanged.
// Requires: is_defined(type, op).
Reduction reduction(Type type, Operator op);

// Returns the reduction, element by element, of types without vector instructions: long double, its
// complex type and values with locations. Returns null for all others.
CombineFunction* find_scalar(Type type, Operator op);

// The reductions by vector instructions, built once per instruction set.
struct VectorTarget {
  std::string_view name;
  bool (*runs_here)();
  // Returns null for types without vector instructions: long double and locations.
  CombineFunction* (*find)(Type, Operator);
};

// Returns the instruction sets, best first. All give the same bits; the last runs on any CPU.
std::span<const VectorTarget> vector_targets();

}  // namespace huddle::memory
