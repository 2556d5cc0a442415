// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the engine has to keep to: its collectives against the best that one can write by hand for
// just this case, timed beside them.
#pragma once

#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/comparison.h"

namespace huddle::bench {

// pus: one for each core that may be used, neighbours beside each other. Without a second one there
// is no comparison.
std::vector<Comparison> engine_comparisons(const std::vector<int>& pus, const Scale& scale);

// The variants of the papers side by side, beside huddle's choice, each with what it was predicted
// to take. Without bars: a look, not a test.

// Zhang, Meng and Huo: flat with two queues of packed flags; flat with one queue and a line a slot;
// the same over the machine's levels. pre: two ranks or more.
Comparison barrier_variants(const machine::Machine& machine, const Binding& binding,
                            const Scale& scale);

// Kurnosov and Tokmasheva: one buffer against several, trees of notifications; Zhang, Meng and Huo:
// segments placed on the memories, read by all or by few at once. pre: two ranks or more.
std::vector<Comparison> bcast_variants(const machine::Machine& machine, const Binding& binding,
                                       const Scale& scale);

// The papers leave reductions open: each algorithm of huddle's, with the parameters that were
// predicted to suit it best. pre: two ranks or more.
std::vector<Comparison> allreduce_variants(const machine::Machine& machine, const Binding& binding,
                                           const Scale& scale);

// Zhang, Meng and Huo: exchanges of pairs in tiles of several sizes, the largest as good as none,
// in either order. pre: two ranks or more.
std::vector<Comparison> alltoall_variants(const machine::Machine& machine, const Binding& binding,
                                          const Scale& scale);

}  // namespace huddle::bench
