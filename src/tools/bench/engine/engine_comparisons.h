// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Comparisons of the engine (huddle without an MPI). Its collectives are compared with the best
// hand-written code for the same case and have to reach required ratios. Variants from the
// literature are compared with huddle's choice.
#pragma once

#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// Returns the comparisons with hand-written code and their required ratios; none for fewer than two
// hardware threads. `pus` contains one hardware thread of each usable core, with neighbouring cores
// next to each other.
std::vector<Comparison> engine_comparisons(const std::vector<int>& pus, const Scale& scale);

// The functions below compare variants from the literature with huddle's choice, each with its
// predicted time. They have no required ratios: they are an overview, not a test.

// Compares the barriers of Zhang, Meng and Huo: flat with two queues of packed flags, flat with one
// queue and one cache line per slot, and the latter in a tree that follows the levels of the
// machine.
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

// Compares the pairwise exchanges of Zhang, Meng and Huo with several tile sizes, the largest of
// which is practically untiled, in paired and in staggered order.
// Requires: at least two ranks.
std::vector<Comparison> alltoall_variants(const machine::Machine& machine, const Binding& binding,
                                          const Scale& scale);

}  // namespace huddle::bench
