// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One side of a call whose blocks are listed: for each rank how much it is and where it is, and
// maybe of which type.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/calls/numbers_of_program.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/types.h"

namespace huddle::mpi {

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

}  // namespace huddle::mpi
