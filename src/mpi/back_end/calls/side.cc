// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {

const TypeFacts& facts_of(const Process& process, Datatype type) {
  return process.types().is_null(type) ? no_type : process.types().facts(type);
}

bool is_refused_at_root(const Part& given, const Part& gotten) {
  return aliases_are_refused && given.place.address == gotten.place.address &&
         given.place.address != bottom && given.place.type == gotten.place.type &&
         given.place.count == gotten.place.count && given.bytes() > 0 && given.facts->dense;
}

}  // namespace huddle::mpi
