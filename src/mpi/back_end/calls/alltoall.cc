// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/alltoall.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/mpi_names.h"

namespace huddle::mpi {

// A rank whose two block sizes differ takes part, because on the other ranks they may be equal.
FallbackReason AlltoallCall::check_arguments(const Process& process,
                                             const Communicator& communicator) const {
  const FallbackReason fallback = ForAll::check_arguments(process, communicator);
  if (fallback != FallbackReason::none) return fallback;
  const bool is_refused = !input.is_in_place() && input.type == output.type &&
                          input.count == output.count && input.count > 0 &&
                          is_refused_alias(input.address, output.address);
  return is_refused ? FallbackReason::invalid_arguments : fallback;
}

FallbackReason AlltoallCall::run(const Process& process, Communicator& communicator) const {
  Dense to(process.real(), comm, output.all(communicator.ranks));
  if (input.is_in_place()) {
    to.fetch();
    communicator.with_team(
        [&](auto& team) { team.alltoall(to.data(), to.data(), output.bytes()); });
  } else {
    Dense from(process.real(), comm, input.all(communicator.ranks));
    from.fetch();
    if (input.bytes() != output.bytes()) {
      run_with_other_size(communicator, from.data(), to);
    } else {
      communicator.with_team(
          [&](auto& team) { team.alltoall(from.data(), to.data(), output.bytes()); });
    }
  }
  to.store();
  return FallbackReason::none;
}

// Receives blocks of the size that this rank sends, and copies the part for which there is room.
// If the other ranks send blocks of another size, their calls differ from this one.
void AlltoallCall::run_with_other_size(Communicator& communicator, const std::byte* from,
                                       Dense& to) const {
  const auto ranks = static_cast<std::size_t>(communicator.ranks);
  std::vector<std::byte> received(ranks * input.bytes());
  communicator.with_team([&](auto& team) { team.alltoall(from, received.data(), input.bytes()); });
  to.fetch();
  const std::size_t bytes = std::min(input.bytes(), output.bytes());
  if (bytes == 0) return;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::memcpy(to.data() + rank * output.bytes(), received.data() + rank * input.bytes(), bytes);
  }
}

int AlltoallCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.alltoall_c(input.address, input.count, input.type, output.address, output.count,
                           output.type, comm);
  }
  return real.alltoall(input.address, static_cast<int>(input.count), input.type, output.address,
                       static_cast<int>(output.count), output.type, comm);
}

std::size_t AnyAlltoallv::bytes(const Communicator& communicator) const {
  return (input.is_in_place() ? output : input).bytes_of_all(communicator.ranks);
}

FallbackReason AnyAlltoallv::check_arguments(const Process& process,
                                             const Communicator& communicator) const {
  const FallbackReason fallback = ForAll::check_arguments(process, communicator);
  if (fallback != FallbackReason::none || input.is_in_place()) return fallback;
  const bool are_equal = input.counts().is_same_array(output.counts()) &&
                         input.type() == output.type() && input.types() == output.types();
  const bool is_refused = are_equal && is_refused_alias(input.address, output.address);
  return is_refused ? FallbackReason::invalid_arguments : fallback;
}

bool AnyAlltoallv::is_truncated(const Communicator& communicator) const {
  return !input.is_in_place() && input.bytes(communicator.rank) > output.bytes(communicator.rank);
}

FallbackReason AnyAlltoallv::run(const Process& process, Communicator& communicator) const {
  const int rank = communicator.rank;
  DenseBlocks to(process.real(), comm, output, communicator.ranks);
  if (input.is_in_place()) {
    to.fetch();
    communicator.with_team(
        [&](auto& team) { team.alltoallv(to.base(), to.blocks(), to.base(), to.blocks()); });
  } else {
    DenseBlocks from(process.real(), comm, input, communicator.ranks);
    from.fetch();
    from.shorten(rank, output.bytes(rank));
    to.shorten(rank, input.bytes(rank));
    communicator.with_team(
        [&](auto& team) { team.alltoallv(from.base(), from.blocks(), to.base(), to.blocks()); });
  }
  to.store();
  return FallbackReason::none;
}

int AlltoallvCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (output.counts().is_wide()) {
    return real.alltoallv_c(input.address, input.counts().wide(), input.displacements().wide(),
                            input.type(), output.address, output.counts().wide(),
                            output.displacements().wide(), output.type(), comm);
  }
  return real.alltoallv(input.address, input.counts().narrow(), input.displacements().narrow(),
                        input.type(), output.address, output.counts().narrow(),
                        output.displacements().narrow(), output.type(), comm);
}

int AlltoallwCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (output.counts().is_wide()) {
    return real.alltoallw_c(input.address, input.counts().wide(), input.displacements().wide(),
                            input.types(), output.address, output.counts().wide(),
                            output.displacements().wide(), output.types(), comm);
  }
  return real.alltoallw(input.address, input.counts().narrow(), input.displacements().narrow(),
                        input.types(), output.address, output.counts().narrow(),
                        output.displacements().narrow(), output.types(), comm);
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Alltoall(const void* input, int in_count, Datatype in_type, void* output,
                               int out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AlltoallCall{{BufferArgument(input, in_count, in_type),
                                            BufferArgument(output, out_count, out_type), comm}});
}

HUDDLE_EXPORT int MPI_Alltoall_c(const void* input, Count in_count, Datatype in_type, void* output,
                                 Count out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AlltoallCall{{BufferArgument(input, in_count, in_type),
                                            BufferArgument(output, out_count, out_type), comm}});
}

HUDDLE_EXPORT int MPI_Alltoallv(const void* input, const int* in_counts, const int* in_places,
                                Datatype in_type, void* output, const int* out_counts,
                                const int* out_places, Datatype out_type, Comm comm) {
  return carry_out(
      process(),
      AlltoallvCall{{{VectorBufferArgument(input, in_counts, in_places, in_type),
                      VectorBufferArgument(output, out_counts, out_places, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallv_c(const void* input, const Count* in_counts, const Aint* in_places,
                                  Datatype in_type, void* output, const Count* out_counts,
                                  const Aint* out_places, Datatype out_type, Comm comm) {
  return carry_out(
      process(),
      AlltoallvCall{{{VectorBufferArgument(input, in_counts, in_places, in_type),
                      VectorBufferArgument(output, out_counts, out_places, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallw(const void* input, const int* in_counts, const int* in_places,
                                const Datatype* in_types, void* output, const int* out_counts,
                                const int* out_places, const Datatype* out_types, Comm comm) {
  return carry_out(
      process(),
      AlltoallwCall{{{VectorBufferArgument(input, in_counts, in_places, in_types),
                      VectorBufferArgument(output, out_counts, out_places, out_types), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallw_c(const void* input, const Count* in_counts, const Aint* in_places,
                                  const Datatype* in_types, void* output, const Count* out_counts,
                                  const Aint* out_places, const Datatype* out_types, Comm comm) {
  return carry_out(
      process(),
      AlltoallwCall{{{VectorBufferArgument(input, in_counts, in_places, in_types),
                      VectorBufferArgument(output, out_counts, out_places, out_types), comm}}});
}
