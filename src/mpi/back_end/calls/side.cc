// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {

// Does not cache a null or uncommitted type, because the same handle may be valid in the next call.
const TypeFacts& found_facts_of(const Process& process, Communicator& communicator, Datatype type) {
  const Types& types = process.types();
  if (types.is_null(type)) return no_type;
  const std::uint64_t freed = types.freed();
  const TypeFacts& facts = types.facts(type);
  if (facts.is_type) communicator.latest.note(type, facts, freed);
  return facts;
}

void VectorBufferArgument::inspect(const Process& process, Communicator& communicator) {
  if (!has_types_) {
    facts_ = &facts_of(process, communicator, type_);
    return;
  }
  if (!is_listed()) return;
  facts_by_rank_.resize(static_cast<std::size_t>(communicator.ranks), &no_type);
  for (int rank = 0; rank < communicator.ranks; ++rank) {
    // Programs may leave the type of an empty block undefined.
    if (counts_[rank] <= 0) continue;
    const bool is_as_before = rank > 0 && counts_[rank - 1] > 0 && types_[rank] == types_[rank - 1];
    const auto at = static_cast<std::size_t>(rank);
    facts_by_rank_[at] =
        is_as_before ? facts_by_rank_[at - 1] : &facts_of(process, communicator, types_[rank]);
  }
}

bool VectorBufferArgument::is_valid(int ranks) const {
  if (!is_listed()) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    const Count count = counts_[rank];
    // A block of MPI_BOTTOM may have an absolute address as its displacement.
    if (count != 0 && !is_valid_buffer(block(rank).place.address, count, facts(rank))) return false;
  }
  return true;
}

std::size_t VectorBufferArgument::bytes(int rank) const {
  return is_listed() ? bytes_of(counts_[rank], facts(rank)) : 0;
}

std::size_t VectorBufferArgument::bytes_of_all(int ranks) const {
  std::size_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += bytes(rank);
  return sum;
}

Part VectorBufferArgument::block(int rank) const {
  const TypeFacts& of_block = facts(rank);
  const Aint unit = has_types_ ? 1 : of_block.extent;
  return {{moved(address, displacements_[rank] * unit), counts_[rank],
           has_types_ ? types_[rank] : type_},
          &of_block};
}

std::vector<Part> VectorBufferArgument::blocks(int ranks) const {
  std::vector<Part> all;
  all.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) all.push_back(block(rank));
  return all;
}

}  // namespace huddle::mpi
