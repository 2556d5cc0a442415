// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mpi/reasons.h"

namespace huddle::mpi {

bool Verification::note_difference() {
  count(compared_);
  return differences_.fetch_add(1, std::memory_order_relaxed) == 0;
}

std::string Verification::report(const huddle_door& door) const {
  std::array<std::size_t, route_count> passed{};
  std::transform(passed_.begin(), passed_.end(), passed.begin(),
                 [](const Counter& calls) { return calls.load(std::memory_order_relaxed); });
  std::vector<Reason> reasons = reasons_of(passed, door);
  for (std::size_t i = 0; i < incomparable_count; ++i) {
    const std::size_t calls = incomparable_[i].load(std::memory_order_relaxed);
    if (calls > 0) reasons.push_back({calls, words(static_cast<Incomparable>(i))});
  }
  sort_by_calls(reasons);
  return fmt::format("{} calls compared, {} differ, {} not comparable{}",
                     grouped(compared_.load(std::memory_order_relaxed)),
                     grouped(differences_.load(std::memory_order_relaxed)),
                     grouped(calls_of(reasons)), listed(reasons));
}

}  // namespace huddle::mpi
