// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How two arrays become one, element by element: what a reduction does, apart from who does it.
#pragma once

#include <cstddef>

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

}  // namespace huddle::memory
