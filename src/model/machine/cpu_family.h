// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Describes generations of processors by properties that cannot be inferred from latencies: the
// sizes of the caches, how many cores share an L3, and how many cache lines a core can request at
// once.
#pragma once

#include <cstdint>
#include <string_view>

namespace huddle::machine {

struct CpuFamily {
  std::string_view name;       // "Zen 3"; empty if the processor is not known
  std::uint64_t l1_bytes = 0;  // 0 if unknown, also below
  std::uint64_t l2_bytes = 0;
  std::uint64_t l3_bytes_per_core = 0;
  int cores_per_l3 = 0;        // at most; 0 if all cores of a socket share one, or if unknown
  int outstanding_misses = 0;  // cache lines that a core can have requested at the same time

  bool shares_l3_in_socket() const { return !name.empty() && cores_per_l3 == 0; }
};

// Returns the generation of a processor by its model, such as "AMD EPYC 7R13" or "Intel Xeon
// Platinum 8375C". The family of an unknown model has no name and the least number of outstanding
// misses of its vendor's cores.
CpuFamily cpu_family(std::string_view cpu_model);

}  // namespace huddle::machine
