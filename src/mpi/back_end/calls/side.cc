// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {

// What is no type, or none yet, may be one at the next call.
const TypeFacts& found_facts_of(const Process& process, Communicator& communicator, Datatype type) {
  const Types& types = process.types();
  if (types.is_null(type)) return no_type;
  const std::uint64_t freed = types.freed();
  const TypeFacts& facts = types.facts(type);
  if (facts.is_type) communicator.latest.note(type, facts, freed);
  return facts;
}

}  // namespace huddle::mpi
