// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One side of a call, what a rank gives or where it wants what it gets: as much for each rank, one
// block behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mpi/back_end/communicator.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/types.h"

namespace huddle::mpi {

const TypeFacts& found_facts_of(const Process& process, Communicator& communicator, Datatype type);
// Of a null datatype nothing is known, and the MPI will say so.
inline const TypeFacts& facts_of(const Process& process, Communicator& communicator,
                                 Datatype type) {
  const TypeFacts* const latest = communicator.latest.of(type, process.types());
  return latest != nullptr ? *latest : found_facts_of(process, communicator, type);
}

// Returns whether elements of this type at address zero would access address zero. Types may
// contain addresses themselves: their data then begin elsewhere.
inline bool is_at_address_zero(const TypeFacts& facts) {
  return facts.element != nullptr || (facts.bytes > 0 && facts.first_byte == 0);
}

// Returns whether the MPI would accept the buffer.
inline bool is_plain(const void* address, Count count, const TypeFacts& facts) {
  const bool is_missing = address == nullptr && is_at_address_zero(facts);
  return facts.is_type && count >= 0 && !(is_missing && count > 0);
}

inline std::size_t bytes_of(Count count, const TypeFacts& facts) {
  return count <= 0 ? 0 : static_cast<std::size_t>(count) * facts.bytes;
}

inline bool fits_int(Count count) { return count <= std::numeric_limits<int>::max(); }

// So many bytes on. Not for a pointer to reckon: types may name what is far from an address.
inline void* moved(void* address, Aint bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): see above
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}

// Whether the MPI refuses what the root gives to itself where it lies, were it not said to be in
// place. The others are in the call meanwhile: so only what is refused by all that refuse anything.
// They look for a block behind so many bytes of data, not behind extents.
inline bool is_refused_at_root(const Part& given, const Part& gotten) {
  return aliases_are_refused && given.place.address == gotten.place.address &&
         given.place.address != bottom && given.place.type == gotten.place.type &&
         given.place.count == gotten.place.count && given.bytes() > 0 && given.facts->dense;
}

struct Side {
  // A program's input is not written.
  Side(const void* address_, Count count_, Datatype type_)
      : address(const_cast<void*>(address_)), count(count_), type(type_) {}

  // Before all that follows.
  void look(const Process& process, Communicator& communicator) {
    facts = &facts_of(process, communicator, type);
  }

  bool is_in_place() const { return address == in_place(); }
  bool is_right(int /*ranks*/) const { return is_plain(address, count, *facts); }
  // Of each block.
  std::size_t bytes() const { return bytes_of(count, *facts); }
  std::size_t bytes_of_all(int ranks) const { return bytes() * static_cast<std::size_t>(ranks); }
  Part block(int rank) const {
    const Aint from = static_cast<Aint>(rank) * static_cast<Aint>(count) * facts->extent;
    return {{moved(address, from), count, type}, facts};
  }
  Part all(int ranks) const { return {{address, count * ranks, type}, facts}; }

  void* address;
  Count count;
  Datatype type;
  const TypeFacts* facts = &no_type;
};

}  // namespace huddle::mpi
