// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {

const TypeFacts& facts_of(const Process& process, Datatype type) {
  return process.types().is_null(type) ? no_type : process.types().facts(type);
}

}  // namespace huddle::mpi
