// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle map --compare` without a matrix: the methods on how parallel programs talk.
#pragma once

#include "model/machine/machine.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// A table of Markdown, row by row: hop-bytes with those of the order by number as 1, and times.
// Without a machine: only which rows there are.
void print_map_corpus(const machine::Machine* machine, const Console& console);

}  // namespace huddle::cli
