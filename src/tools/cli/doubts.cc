// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/doubts.h"

#include <fmt/format.h>

namespace huddle::cli {

void warn_of_doubts(const Console& console, const machine::Machine& machine) {
  for (const machine::Doubt& doubt : machine.doubts) {
    console.note(fmt::format("warning: {}: {}", doubt.what, doubt.why));
  }
}

}  // namespace huddle::cli
