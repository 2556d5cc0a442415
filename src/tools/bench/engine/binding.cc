// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/error.h"

namespace huddle::bench {

std::vector<int> Binding::pus_of(int rank) const {
  if (crowded()) return pus;
  return {pus[static_cast<std::size_t>(rank)]};
}

std::vector<int> Binding::counted_for() const {
  std::vector<int> locality;
  for (int rank = 0; rank < ranks; ++rank) {
    locality.push_back(pus[static_cast<std::size_t>(rank) % pus.size()]);
  }
  return locality;
}

std::string text(const Binding& binding) {
  const int used = std::min(binding.ranks, static_cast<int>(binding.pus.size()));
  if (binding.crowded()) {
    return fmt::format("{} ranks on {} cpu{}", binding.ranks, used, used == 1 ? "" : "s");
  }
  const std::vector<int> pus(binding.pus.begin(), binding.pus.begin() + used);
  return fmt::format("{} ranks, one each on cpus {}", used, fmt::join(pus, ", "));
}

// The set is as long as the largest number needs: no limit of ours on how many there are.
void run_on(const std::vector<int>& pus) {
  const auto bits = static_cast<std::size_t>(*std::max_element(pus.begin(), pus.end())) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(bits), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  const std::size_t bytes = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(bytes, set.get());
  for (const int pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) == 0) return;
  throw FailureError(
      fmt::format("cannot run on cpus {}: {}", fmt::join(pus, ", "), std::strerror(errno)));
}

}  // namespace huddle::bench
