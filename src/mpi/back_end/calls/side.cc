// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/side.h"

#include <cstdint>
#include <limits>

namespace huddle::mpi {

TypeFacts facts_of(const Process& process, Datatype type) {
  return process.types().is_null(type) ? TypeFacts() : process.types().facts(type);
}

bool is_plain(const void* address, Count count, const TypeFacts& facts) {
  const bool is_missing = address == nullptr && facts.element != nullptr;
  return facts.is_type && count >= 0 && !(is_missing && count > 0);
}

std::size_t bytes_of(Count count, const TypeFacts& facts) {
  return count <= 0 ? 0 : static_cast<std::size_t>(count) * facts.bytes;
}

bool fits_int(Count count) { return count <= std::numeric_limits<int>::max(); }

void* moved(void* address, Aint bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}

void Side::look(const Process& process, int /*ranks*/) { facts = facts_of(process, type); }

bool Side::is_right(int /*ranks*/) const { return is_plain(address, count, facts); }

Part Side::block(int rank) const {
  const Aint from = static_cast<Aint>(rank) * static_cast<Aint>(count) * facts.extent;
  return {{moved(address, from), count, type}, facts};
}

}  // namespace huddle::mpi
