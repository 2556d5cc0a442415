// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions by vector instructions, built once for each instruction set that is worth it.
#pragma once

#include <span>
#include <string_view>

#include "runtime/memory/reduction.h"

namespace huddle::memory {

struct VectorTarget {
  std::string_view name;
  bool (*runs_here)();
  // Null for what vectors do not do: long double and locations.
  CombineFunction* (*find)(Type, Operator);
};

// The best first. All give the same bits; the last runs everywhere.
std::span<const VectorTarget> vector_targets();

}  // namespace huddle::memory
