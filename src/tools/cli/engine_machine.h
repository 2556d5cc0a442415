// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine model that huddle chooses by while its engine is timed.
#pragma once

#include "model/machine/discover.h"
#include "model/machine/locate.h"
#include "tools/cli/bench_options.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"

namespace huddle::cli {

// What was named, or with --as-is what is found; otherwise this machine is measured quickly, which
// an interrupt ends together with the program. Throws UsageError where a file is of another
// machine.
machine::LoadedMachine engine_machine(const Context& context, const EngineBenchOptions& options,
                                      const machine::Discovery& discovery,
                                      const Interrupt& interrupt);

// The rounds that were asked for.
int engine_rounds(const EngineBenchOptions& options);

}  // namespace huddle::cli
