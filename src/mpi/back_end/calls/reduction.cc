// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/reduction.h"

namespace huddle::mpi {

bool AnyReduction::is_right(const Process& process, Count gotten) const {
  const bool has_output = gotten == 0 || (is_plain(output, gotten, *facts) && output != in_place());
  const bool has_input =
      !(is_in_place() && output == in_place()) && is_plain(brought(), count, *facts);
  return has_output && has_input && !process.operators().is_null(op);
}

bool AnyReduction::is_refused_alias() const {
  return aliases_are_refused && input == output && count > 0;
}

}  // namespace huddle::mpi
