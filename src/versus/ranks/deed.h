// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How each operation is called: by the MPI function of its name.
#pragma once

#include <vector>

#include "contest/task.h"
#include "versus/order.h"
#include "versus/ranks/sides.h"

namespace huddle::versus::ranks {

struct Occasion : contest::Occasion {
  // Of blocks of so many bytes, and of as many numbers: by rank.
  const std::vector<int>& byte_counts;
  const std::vector<int>& byte_places;
  const std::vector<int>& number_counts;
};

using Deed = void(const Functions& mpi, const Sides& sides, const Occasion& at);

// pre: not a barrier, and one that can be timed.
Deed* deed_of(Operation operation);

}  // namespace huddle::versus::ranks
