// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One call of a collective, as this rank makes it.
#pragma once

#include <cstddef>

#include "memory/reduction.h"
#include "select/operation.h"

namespace huddle::team {

struct Call {
  select::Operation operation = select::Operation::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;  // bytes of a broadcast, elements of a reduction
  const memory::Reduction* reduction = nullptr;
  int root = 0;

  std::size_t element_bytes() const { return reduction == nullptr ? 1 : reduction->element_bytes; }
};

}  // namespace huddle::team
