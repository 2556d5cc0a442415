// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions element by element: what no vector unit has.
#pragma once

#include "runtime/memory/reduction.h"

namespace huddle::memory {

// long double, its complex, and values with locations; null for all else.
CombineFunction* find_scalar(Type type, Operator op);

}  // namespace huddle::memory
