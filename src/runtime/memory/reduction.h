// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How two arrays become one, element by element: what a reduction does, apart from who does it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/memory/types.h"

namespace huddle::memory {

// to[i] = left[i] op right[i]. `to` is `left`, is `right`, or overlaps neither; left and right may
// be the same. What `to` held before does not matter.
using CombineFunction = void(void* to, const void* left, const void* right, std::size_t count,
                             void* context);

struct Reduction {
  CombineFunction* combine = nullptr;
  void* context = nullptr;  // handed to `combine` as it is
  std::size_t element_bytes = 0;
  // False: left and right may not change places. They never change places anyway, for the same
  // bits; what this forbids is to bring ranks into another order.
  bool commutative = true;

  void operator()(void* to, const void* left, const void* right, std::size_t count) const {
    combine(to, left, right, count, context);
  }
};

// The built-in reduction of this type by this operator. All three arrays may lie anywhere: no
// alignment is asked for. The bits of a result depend on the two elements alone: not on where they
// lie, how many there are, or what processor this is (long double apart, which is what the
// processor makes of it).
// - Integers wrap. A truth value that comes out is 0 or 1.
// - float16 and bfloat16 are computed as float and rounded to the nearest, ties to even, each time.
// - Complex products are (ac - bd, ad + bc), nothing more: no second look at infinities.
// - A sum or product that is not a number is always the same quiet NaN.
// - min and max follow one order: NaN comes before all else (the result is a NaN if either side is
//   one), and -0 is less than +0.
// - min and max with location: a NaN comes before all else, -0 and +0 are equal; of equal values
//   the one with the lower index is taken, as it is.
// pre: is_defined(type, op).
Reduction reduction(Type type, Operator op);

// Reductions element by element: what no vector unit has.

// long double, its complex, and values with locations; null for all else.
CombineFunction* find_scalar(Type type, Operator op);

// Reductions by vector instructions, built once for each instruction set that is worth it.
struct VectorTarget {
  std::string_view name;
  bool (*runs_here)();
  // Null for what vectors do not do: long double and locations.
  CombineFunction* (*find)(Type, Operator);
};

// The best first. All give the same bits; the last runs everywhere.
std::span<const VectorTarget> vector_targets();

}  // namespace huddle::memory
