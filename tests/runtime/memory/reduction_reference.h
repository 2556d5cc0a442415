// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a reduction has to give, element by element, written to be believed and not to be fast; and
// elements worth reducing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "runtime/memory/types.h"

namespace huddle::memory {

// One element; `to` overlaps neither. pre: is_defined(type, op).
void combine_reference(Type type, Operator op, std::byte* to, const std::byte* left,
                       const std::byte* right);

// Elements with many zeros, infinities, NaNs, extremes and ties among them.
std::vector<std::byte> random_elements(Type type, std::size_t count, std::mt19937_64& random);

// The value of a number of so many fraction and exponent bits, and the nearest such number, ties to
// even; NaN is the quiet one without sign.
struct SmallFloat {
  int fraction_bits;
  int exponent_bits;
  double value(std::uint16_t bits) const;
  std::uint16_t nearest(double value) const;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
inline constexpr SmallFloat half_format{10, 5};
inline constexpr SmallFloat bfloat_format{7, 8};

}  // namespace huddle::memory
