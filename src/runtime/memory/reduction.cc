// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/reduction.h"

#include <algorithm>

namespace huddle::memory {
namespace {

const VectorTarget& best_target() {
  const auto targets = vector_targets();
  return *std::find_if(targets.begin(), targets.end() - 1,
                       [](const VectorTarget& target) { return target.runs_here(); });
}

}  // namespace

Reduction reduction(Type type, Operator op) {
  static const VectorTarget& target = best_target();
  CombineFunction* const vector = target.find(type, op);
  return {.combine = vector != nullptr ? vector : find_scalar(type, op),
          .context = nullptr,
          .element_bytes = type_bytes(type),
          .commutative = true};
}

}  // namespace huddle::memory
