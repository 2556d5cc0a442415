// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Results of two reductions held against each other, number by number: rounding may differ where
// numbers were joined in another order, by so much and no more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/memory/types.h"

namespace huddle::mpi {

// The magnitude of every number of an array: |x|, or |z| of complex ones.
std::vector<double> magnitudes(memory::Type type, const void* numbers, std::size_t count);

struct Difference {
  std::size_t at = 0;
  std::string text;  // "3.5 and 3.25, which may differ by 1e-15"
};

// The first number that differs by more than ranks x epsilon x its scale: the sum, or the product,
// of the magnitudes that went into it. What is infinite or no number may be anything that is.
// pre: a real or complex type.
std::optional<Difference> compare_rounded(memory::Type type, const void* ours, const void* theirs,
                                          std::size_t count, int ranks,
                                          const std::vector<double>& scale);

// The first number that has another value; zeros of either sign are one value, and so are all that
// are no number. pre: a real type.
std::optional<Difference> compare_values(memory::Type type, const void* ours, const void* theirs,
                                         std::size_t count);

}  // namespace huddle::mpi
