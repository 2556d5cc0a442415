// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/heap_cost.h"

#include <algorithm>

namespace huddle::machine {
namespace {

const ArrayCost* find_measured(const Machine& machine, ArrayPlace place) {
  const auto found =
      std::find_if(machine.arrays.begin(), machine.arrays.end(), [place](const ArrayCost& cost) {
        return cost.place == place && cost.origin == Origin::measured;
      });
  return found == machine.arrays.end() ? nullptr : &*found;
}

}  // namespace

std::optional<HeapCost> heap_cost(const Machine& machine) {
  const ArrayCost* const own = find_measured(machine, ArrayPlace::program);
  const ArrayCost* const shared = find_measured(machine, ArrayPlace::heap);
  if (own == nullptr || shared == nullptr) return std::nullopt;
  return HeapCost{shared->load_ns / own->load_ns, shared->stream_ns / own->stream_ns,
                  std::max(own->spread, shared->spread)};
}

}  // namespace huddle::machine
