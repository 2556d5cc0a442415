// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How each operation is called: by the MPI function of its name.
#pragma once

#include <vector>

#include "tools/bench/harness/test_data.h"
#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::ranks {

struct CallData : bench::CallData {
  // Of blocks of so many bytes, and of as many numbers: by rank.
  const std::vector<int>& byte_counts;
  const std::vector<int>& byte_places;
  const std::vector<int>& number_counts;
};

using CallFunction = void(const Functions& mpi, const Sides& sides, const CallData& at);

// pre: not a barrier, and one that can be timed.
CallFunction* call_function_of(Operation operation);

}  // namespace huddle::bench::ranks
