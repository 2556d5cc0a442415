// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Operators whose result shows which operands were combined, and in which order.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/memory/reduction.h"
#include "runtime/node/reduction_order.h"

namespace huddle::node::test {

// Composition of maps x -> a x + b modulo 2^32: associative, exact, not commutative.
struct Affine {
  std::uint32_t a = 1;
  std::uint32_t b = 0;

  friend Affine operator*(const Affine& first, const Affine& then) {
    return {then.a * first.a, then.a * first.b + then.b};
  }
  bool operator==(const Affine&) const = default;
};

// Not associative either: the result of (x, y) -> 3 x + 5 y + 1 depends on all parentheses.
struct Bracketed {
  std::uint64_t value = 0;

  friend Bracketed operator*(const Bracketed& left, const Bracketed& right) {
    return {3 * left.value + 5 * right.value + 1};
  }
  bool operator==(const Bracketed&) const = default;
};

template <class Element>
memory::Reduction product_of() {
  const auto combine = [](void* to, const void* left, const void* right, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
      Element a;
      Element b;
      std::memcpy(&a, static_cast<const std::byte*>(left) + i * sizeof a, sizeof a);
      std::memcpy(&b, static_cast<const std::byte*>(right) + i * sizeof b, sizeof b);
      const Element combined = a * b;
      std::memcpy(static_cast<std::byte*>(to) + i * sizeof combined, &combined, sizeof combined);
    }
  };
  return {combine, nullptr, sizeof(Element), false};
}

// The operator of Bracketed, which is neither commutative nor associative.
inline const memory::Reduction bracketed = product_of<Bracketed>();

// Returns the expected result of a reduction of given(rank) over all ranks: an independent
// implementation of the reduction_order.
template <class Given>
Bracketed joined_by(const ReductionOrder& reduction_order, Given given) {
  Bracketed total;
  for (int block = 0; block < reduction_order.blocks(); ++block) {
    Bracketed part = given(reduction_order.first(block));
    for (int rank = reduction_order.first(block) + 1; rank < reduction_order.first(block + 1);
         ++rank) {
      part = part * given(rank);
    }
    total = block == 0 ? part : total * part;
  }
  return total;
}

}  // namespace huddle::node::test
