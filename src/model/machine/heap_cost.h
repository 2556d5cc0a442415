// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a program would pay for having its arrays in the shared heap.
#pragma once

#include <optional>

#include "model/machine/machine.h"

namespace huddle::machine {

struct HeapCost {
  // Time in the heap over that in the program's own arrays.
  double loads = 1;
  double stream = 1;
  double spread = 0;  // two measurements of the same thing differ by so much

  bool is_felt() const { return loads > 1 + spread || stream > 1 + spread; }
};

// Nothing where nobody has measured it.
std::optional<HeapCost> heap_cost(const Machine& machine);

}  // namespace huddle::machine
