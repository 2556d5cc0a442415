// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whether ranks on this machine get a shared heap: what the setting `heap` says or, where it leaves
// that open, what was measured here.
#pragma once

#include "model/machine/machine.h"
#include "tools/cli/command.h"

namespace huddle::cli {

bool wants_heap(const Context& context, const machine::Machine& machine);
// The same of the machine in question. One of which nothing can be read gets none: whoever needs it
// will say so.
bool wants_heap(const Context& context);

}  // namespace huddle::cli
