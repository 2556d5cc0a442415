// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One side of a call, what a rank gives or where it wants what it gets: as much for each rank, one
// block behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "mpi/back_end/communicator.h"
#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"

namespace huddle::mpi {

// An array of a program's: of int or, in the forms for large counts, of something larger.
template <class Wide>
class ProgramNumbers {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): what a program gives is one or the other
  ProgramNumbers(const int* narrow) : narrow_(narrow) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  ProgramNumbers(const Wide* wide) : wide_(wide), is_wide_(true) {}

  bool is_there() const { return narrow_ != nullptr || wide_ != nullptr; }
  Wide operator[](int i) const { return is_wide_ ? wide_[i] : narrow_[i]; }
  // As they came.
  bool is_wide() const { return is_wide_; }
  const int* narrow() const { return narrow_; }
  const Wide* wide() const { return wide_; }

 private:
  const int* narrow_ = nullptr;
  const Wide* wide_ = nullptr;
  bool is_wide_ = false;
};

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

// One side of a call whose blocks are listed: for each rank how much it is and where it is, and
// maybe of which type.
class ListedSide {
 public:
  using Counts = ProgramNumbers<Count>;
  using Displacements = ProgramNumbers<Aint>;

  // A program's input is not written. All of one type: displacements are counted in its extents.
  ListedSide(const void* address_, Counts counts, Displacements displacements, Datatype type)
      : address(const_cast<void*>(address_)),
        counts_(counts),
        displacements_(displacements),
        type_(type) {}
  // Each of its own type: displacements are bytes.
  ListedSide(const void* address_, Counts counts, Displacements displacements,
             const Datatype* types)
      : address(const_cast<void*>(address_)),
        counts_(counts),
        displacements_(displacements),
        types_(types),
        has_types_(true) {}

  // Before all that follows.
  void look(const Process& process, Communicator& communicator);

  bool is_in_place() const { return address == in_place(); }
  // A block of nothing may be of no type, and anywhere.
  bool is_right(int ranks) const;
  std::size_t bytes(int rank) const;
  std::size_t bytes_of_all(int ranks) const;
  // pre: it is right.
  Part block(int rank) const;
  std::vector<Part> blocks(int ranks) const;

  // As they came, for the MPI.
  const Counts& counts() const { return counts_; }
  const Displacements& displacements() const { return displacements_; }
  Datatype type() const { return type_; }
  const Datatype* types() const { return types_; }

  void* address;

 private:
  bool is_listed() const {
    return counts_.is_there() && displacements_.is_there() && (!has_types_ || types_ != nullptr);
  }
  const TypeFacts& facts(int rank) const {
    return has_types_ ? *facts_by_rank_[static_cast<std::size_t>(rank)] : *facts_;
  }

  Counts counts_;
  Displacements displacements_;
  Datatype type_{};
  const Datatype* types_ = nullptr;
  bool has_types_ = false;
  const TypeFacts* facts_ = &no_type;            // of the only type
  std::vector<const TypeFacts*> facts_by_rank_;  // where each has its own
};

// What a call writes on this rank, for whoever compares.
struct Written {
  void* address = nullptr;  // as the program names it in the call
  std::vector<Part> parts;  // none: nothing is written
  // Where the call finds its input there, and more than it writes: what it reads, which begins with
  // the only part that is written.
  std::optional<Part> read = std::nullopt;
};

inline std::vector<Part> all_blocks(const Side& side, int ranks) { return {side.all(ranks)}; }
inline std::vector<Part> all_blocks(const ListedSide& side, int ranks) {
  return side.blocks(ranks);
}

// What is alike in the calls by which every rank gives to all and gets from all. Side and
// ListedSide are what the two sides of such a call are.
template <class Input, class Output>
struct ForAll {
  Input input;
  Output output;
  Comm comm;

  void look(const Process& process, Communicator& communicator) {
    if (!input.is_in_place()) input.look(process, communicator);
    output.look(process, communicator);
  }

  Route objection(const Process& /*process*/, const Communicator& communicator) const {
    const int ranks = communicator.ranks;
    const bool fine = !output.is_in_place() && output.is_right(ranks) &&
                      (input.is_in_place() || input.is_right(ranks));
    return fine ? Route::huddle : Route::for_judgement;
  }

  std::vector<Part> read(const Communicator& communicator) const {
    return input.is_in_place() ? std::vector<Part>() : all_blocks(input, communicator.ranks);
  }
  Written written(const Communicator& communicator) const {
    return {output.address, all_blocks(output, communicator.ranks)};
  }

 protected:
  // Whether the MPI refuses what would be in place, were it said so.
  static bool is_refused_alias(const void* from, const void* to, std::size_t bytes) {
    return aliases_are_refused && from == to && from != bottom && bytes > 0;
  }
};

}  // namespace huddle::mpi
