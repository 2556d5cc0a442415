// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A reference implementation of the reductions, simple rather than fast, and test data for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "runtime/memory/types.h"

namespace huddle::memory {

// Reduces one element; `to` overlaps neither operand. Requires: is_defined(type, op).
void combine_reference(Type type, Operator op, std::byte* to, const std::byte* left,
                       const std::byte* right);

// Returns random elements with many zeros, infinities, NaNs, extremes and ties.
std::vector<std::byte> random_elements(Type type, std::size_t count, std::mt19937_64& random);

// A floating-point format of up to 16 bits. nearest() rounds ties to even and returns the quiet NaN
// without sign.
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
