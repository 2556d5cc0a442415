// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/system_limits.h"

#include <algorithm>

#include "common/cgroup_limits.h"
#include "common/error.h"

namespace huddle::heap {
namespace {

constexpr long long never_overcommit = 2;  // of vm.overcommit_memory

// Fraction of the usable memory that one fork may copy. The other ranks of the node share the limit
// and may fork at the same time.
constexpr double most_copied_share = 1.0 / 16;

}  // namespace

void check_overcommit(const System& system) {
  if (system.number("/proc/sys/vm/overcommit_memory") != never_overcommit) return;
  throw FailureError(
      "the kernel does not overcommit memory (vm.overcommit_memory is 2); there is no shared heap");
}

std::size_t most_copied_bytes(std::size_t set_bytes, const System& system,
                              std::size_t machine_bytes) {
  const auto machine = static_cast<double>(machine_bytes);
  const double usable =
      std::min(read_cgroup_limits(system).memory_bytes.value_or(machine), machine);
  return std::min(set_bytes, static_cast<std::size_t>(most_copied_share * usable));
}

}  // namespace huddle::heap
