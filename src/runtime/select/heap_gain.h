// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a shared heap is worth on a machine.
#pragma once

#include "model/machine/machine.h"

namespace huddle::select {

// Predicted time without it over that with it: geometric mean of some collectives of large messages
// among all cores.
double heap_gain(const machine::Machine& machine);

// Whether it gains something there and costs nothing. How much of its time a program spends in
// collectives is not known, so no gain makes up for a cost; and what nobody has measured may cost.
bool heap_pays(const machine::Machine& machine);

}  // namespace huddle::select
