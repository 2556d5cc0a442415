// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/bounds.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace huddle::mpi {

Bounds bounds_of(const void* address, const Part& part) {
  // Elements may follow one another downwards.
  const Aint last = static_cast<Aint>(part.place.count - 1) * part.facts->extent;
  const Aint begin = number_of(part.place.address) - number_of(address) + part.facts->first_byte +
                     std::min<Aint>(0, last);
  return {begin, begin + std::abs(last) + static_cast<Aint>(part.facts->span)};
}

Bounds bounds_of(const void* address, const std::vector<Part>& parts) {
  std::optional<Bounds> all;
  for (const Part& part : parts) {
    if (part.bytes() == 0) continue;
    const Bounds bounds = bounds_of(address, part);
    if (!all) all = bounds;
    *all = {std::min(all->begin, bounds.begin), std::max(all->end, bounds.end)};
  }
  return all.value_or(Bounds());
}

}  // namespace huddle::mpi
