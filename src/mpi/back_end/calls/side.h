// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The buffer arguments of the calls. A BufferArgument consists of contiguous blocks of equal size,
// one per rank; a VectorBufferArgument has a count, a displacement and possibly a type per rank.
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
#include "mpi/back_end/repeated_calls.h"

namespace huddle::mpi {

// An array argument of a program: of int or, in the large-count functions, of a wider type.
template <class Wide>
class ProgramNumbers {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): call sites pass either type of array
  ProgramNumbers(const int* narrow) : narrow_(narrow) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  ProgramNumbers(const Wide* wide) : wide_(wide), is_wide_(true) {}

  bool is_there() const { return narrow_ != nullptr || wide_ != nullptr; }
  Wide operator[](int i) const { return is_wide_ ? wide_[i] : narrow_[i]; }
  // Return the array as the program passed it: narrow() or wide(), the other is null.
  bool is_wide() const { return is_wide_; }
  bool is_same_array(const ProgramNumbers& other) const {
    return narrow_ == other.narrow_ && wide_ == other.wide_;
  }
  const int* narrow() const { return narrow_; }
  const Wide* wide() const { return wide_; }

 private:
  const int* narrow_ = nullptr;
  const Wide* wide_ = nullptr;
  bool is_wide_ = false;
};

const TypeFacts& found_facts_of(const Process& process, Communicator& communicator, Datatype type);
// Returns the properties of a datatype, or no_type if it is null or uncommitted.
inline const TypeFacts& facts_of(const Process& process, Communicator& communicator,
                                 Datatype type) {
  const TypeFacts* const latest = communicator.latest.of(type, process.types());
  return latest != nullptr ? *latest : found_facts_of(process, communicator, type);
}

// Returns whether a buffer of this type at address zero (MPI_BOTTOM) would contain data at address
// zero. If a type contains absolute addresses, its data begin elsewhere.
inline bool is_at_address_zero(const TypeFacts& facts) {
  return facts.element != nullptr || (facts.bytes > 0 && facts.first_byte == 0);
}

// Returns whether the MPI would accept the buffer.
inline bool is_valid_buffer(const void* address, Count count, const TypeFacts& facts) {
  const bool is_missing = address == nullptr && is_at_address_zero(facts);
  return facts.is_type && count >= 0 && !(is_missing && count > 0);
}

inline std::size_t bytes_of(Count count, const TypeFacts& facts) {
  return count <= 0 ? 0 : static_cast<std::size_t>(count) * facts.bytes;
}

inline bool fits_int(Count count) {
  return count >= std::numeric_limits<int>::min() && count <= std::numeric_limits<int>::max();
}

// Returns address + bytes. Uses integer arithmetic, because types may contain absolute addresses
// and the result may be outside the object.
inline void* moved(void* address, Aint bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): see above
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}

// Returns whether the MPI rejects a rank whose own block has the same address in the input and the
// output, without MPI_IN_PLACE. Returns true only if every MPI with this check rejects it, because
// the other ranks may have entered the call. MPIs compute the block's address from type sizes, not
// extents, hence the test for dense types.
inline bool is_refused_block(const Part& given, const Part& gotten) {
  return aliases_are_refused && given.place.address == gotten.place.address &&
         given.place.address != bottom && given.place.type == gotten.place.type &&
         given.place.count == gotten.place.count && given.bytes() > 0 && given.facts->dense;
}

struct BufferArgument {
  // Removes const from an input, which is never written.
  constexpr BufferArgument(const void* address_, Count count_, Datatype type_)
      : address(const_cast<void*>(address_)), count(count_), type(type_) {}

  // Call before the functions below.
  void inspect(const Process& process, Communicator& communicator) {
    facts = &facts_of(process, communicator, type);
  }

  bool is_in_place() const { return address == in_place(); }
  bool is_valid(int /*ranks*/) const { return is_valid_buffer(address, count, *facts); }
  // Size of each block.
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

// Takes the place of an argument that is not significant on this rank.
inline constexpr BufferArgument no_buffer{nullptr, 0, Datatype{}};

// Returns the arguments of a call that moves blocks of equal size. The count and the type of a
// buffer in place are not significant.
inline RepeatableArguments repeatable_blocks(select::Operation operation,
                                             const BufferArgument& input,
                                             const BufferArgument& output, int root) {
  const auto count_of = [](const BufferArgument& side) {
    return side.is_in_place() ? Count{0} : side.count;
  };
  const auto type_of = [](const BufferArgument& side) {
    return side.is_in_place() ? Datatype{} : side.type;
  };
  return repeatable(operation, input.address, output.address, root, count_of(input), type_of(input),
                    count_of(output), type_of(output));
}

// Return whether huddle's call uses the program's buffers: this rank's block, or that and all
// blocks. `own` may be in place.
inline bool is_plain(const BufferArgument& own) { return own.is_in_place() || own.facts->dense; }
inline bool are_plain(const BufferArgument& own, const BufferArgument& all) {
  return is_plain(own) && all.facts->dense && (own.is_in_place() || own.bytes() == all.bytes());
}

// A buffer argument whose blocks are listed by rank: count, displacement, and possibly type.
class VectorBufferArgument {
 public:
  using Counts = ProgramNumbers<Count>;
  using Displacements = ProgramNumbers<Aint>;

  // Removes const from an input, which is never written. All blocks have one type, and
  // displacements are in units of its extent.
  VectorBufferArgument(const void* address_, Counts counts, Displacements displacements,
                       Datatype type)
      : address(const_cast<void*>(address_)),
        counts_(counts),
        displacements_(displacements),
        type_(type) {}
  // Each block has its own type, and displacements are in bytes.
  VectorBufferArgument(const void* address_, Counts counts, Displacements displacements,
                       const Datatype* types)
      : address(const_cast<void*>(address_)),
        counts_(counts),
        displacements_(displacements),
        types_(types),
        has_types_(true) {}

  // Call before the functions below.
  void inspect(const Process& process, Communicator& communicator);

  bool is_in_place() const { return address == in_place(); }
  // Empty blocks may have any type and displacement.
  bool is_valid(int ranks) const;
  std::size_t bytes(int rank) const;
  std::size_t bytes_of_all(int ranks) const;
  // Requires: is_valid().
  Part block(int rank) const;
  std::vector<Part> blocks(int ranks) const;

  // The original arguments, for the MPI.
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
  const TypeFacts* facts_ = &no_type;            // if all blocks have one type
  std::vector<const TypeFacts*> facts_by_rank_;  // if each block has its own type
};

// The data that a call writes on this rank.
struct Written {
  void* address = nullptr;  // the buffer argument of the call
  std::vector<Part> parts;  // empty: nothing is written
  // The input, if it is in place and larger than the output (MPI_Reduce_scatter). It begins with
  // the only part that is written.
  std::optional<Part> read = std::nullopt;
};

inline std::vector<Part> all_blocks(const BufferArgument& side, int ranks) {
  return {side.all(ranks)};
}
inline std::vector<Part> all_blocks(const VectorBufferArgument& side, int ranks) {
  return side.blocks(ranks);
}

// Get and set the address of a buffer argument, which is a BufferArgument, a VectorBufferArgument
// or, in reductions, an address.
inline const void* address_of(const void* buffer) { return buffer; }
inline const void* address_of(const BufferArgument& side) { return side.address; }
inline const void* address_of(const VectorBufferArgument& side) { return side.address; }
inline void set_address(const void*& buffer, void* address) { buffer = address; }
inline void set_address(void*& buffer, void* address) { buffer = address; }
inline void set_address(BufferArgument& side, void* address) { side.address = address; }
inline void set_address(VectorBufferArgument& side, void* address) { side.address = address; }

// Common part of calls in which all ranks send to all. The parameters are BufferArgument or
// VectorBufferArgument.
template <class Input, class Output>
struct ForAll {
  Input input;
  Output output;
  Comm comm;

  void inspect(const Process& process, Communicator& communicator) {
    if (!input.is_in_place()) input.inspect(process, communicator);
    output.inspect(process, communicator);
  }

  FallbackReason check_arguments(const Process& /*process*/,
                                 const Communicator& communicator) const {
    const int ranks = communicator.ranks;
    const bool fine = !output.is_in_place() && output.is_valid(ranks) &&
                      (input.is_in_place() || input.is_valid(ranks));
    return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
  }

  bool is_in_place() const { return input.is_in_place(); }
  bool is_truncated(const Communicator& /*communicator*/) const { return false; }
  bool others_have_sent(const Communicator& /*communicator*/) const { return false; }
  std::vector<Part> read(const Communicator& communicator) const {
    return input.is_in_place() ? std::vector<Part>() : all_blocks(input, communicator.ranks);
  }
  Written written(const Communicator& communicator) const {
    return {output.address, all_blocks(output, communicator.ranks)};
  }

 protected:
  // Returns whether the MPI rejects equal addresses of input and output without MPI_IN_PLACE, if
  // the other arguments of both are equal. If they differ, the data may be in different places.
  static bool is_refused_alias(const void* from, const void* to) {
    return aliases_are_refused && from == to && from != bottom;
  }
};

}  // namespace huddle::mpi
