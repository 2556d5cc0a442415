// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The performance bars of the engine: its collectives compared with the best hand-written code for
// the same case, and the variants from the papers compared with huddle's choice.
#pragma once

#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// Returns the engine's comparisons with their bars. `pus` contains one hardware thread for each
// core that may be used, neighbours next to each other. Returns none if there are fewer than two.
std::vector<Comparison> engine_comparisons(const std::vector<int>& pus, const Scale& scale);

// The next functions compare the variants from the papers and huddle's choice, each with its
// predicted time. They set no bars: they give an overview and are not a test.

// Compares the barriers of Zhang, Meng and Huo: flat with two queues of packed flags, flat with one
// queue and one cache line per slot, and the latter over the levels of the machine.
// Requires: at least two ranks.
Comparison barrier_variants(const machine::Machine& machine, const Binding& binding,
                            const Scale& scale);

// Compares the broadcasts of Kurnosov and Tokmasheva (one buffer or several, trees of
// notifications) and of Zhang, Meng and Huo (segments placed on the NUMA nodes, read by all ranks
// or by a few at a time).
// Requires: at least two ranks.
std::vector<Comparison> bcast_variants(const machine::Machine& machine, const Binding& binding,
                                       const Scale& scale);

// Compares huddle's reduction algorithms, each with its best parameters as predicted. The papers do
// not cover reductions.
// Requires: at least two ranks.
std::vector<Comparison> allreduce_variants(const machine::Machine& machine, const Binding& binding,
                                           const Scale& scale);

// Compares the pairwise exchanges of Zhang, Meng and Huo in tiles of several sizes, of which the
// largest is practically untiled, in both orders.
// Requires: at least two ranks.
std::vector<Comparison> alltoall_variants(const machine::Machine& machine, const Binding& binding,
                                          const Scale& scale);

}  // namespace huddle::bench
