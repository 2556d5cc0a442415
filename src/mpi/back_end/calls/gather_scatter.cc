// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/gather_scatter.h"

#include <vector>

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/mpi_names.h"

namespace huddle::mpi {

FallbackReason GatherCall::run(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (is_wrong_at_root(communicator)) return take_part_and_discard(process, communicator);
  if (!is_root(communicator)) {
    Dense mine(real, comm, given());
    mine.fetch();
    communicator.with_team(
        [&](auto& team) { team.gather(mine.data(), nullptr, mine.bytes(), root); });
    return FallbackReason::none;
  }
  OwnSendBlock mine(real, comm, given(), output.block(root));
  Dense all(real, comm, output.all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.gather(mine.data(), all.data(), output.bytes(), root); });
  all.store();
  return verdict_of_root();
}

// The other ranks cannot detect the error and have entered the call: the root takes part with a
// temporary buffer and discards the result.
FallbackReason GatherCall::take_part_and_discard(const Process& process,
                                                 Communicator& communicator) const {
  Dense mine(process.real(), comm, given());
  mine.fetch();
  std::vector<std::byte> aside(input.bytes_of_all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.gather(mine.data(), aside.data(), input.bytes(), root); });
  return FallbackReason::invalid_arguments;
}

int GatherCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.gather_c(input.address, input.count, input.type, output.address, output.count,
                         output.type, root, comm);
  }
  return real.gather(input.address, static_cast<int>(input.count), input.type, output.address,
                     static_cast<int>(output.count), output.type, root, comm);
}

std::size_t GathervCall::bytes(const Communicator& communicator) const {
  if (input.is_in_place() && !is_root(communicator)) return 0;  // an error
  return input.is_in_place() ? output.bytes(communicator.rank) : input.bytes();
}

// A root with invalid counts does not know the sizes of the blocks, so it cannot take part.
FallbackReason GathervCall::check_arguments(const Process& process,
                                            const Communicator& communicator) const {
  if (is_wrong_at_root(communicator)) return FallbackReason::invalid_arguments;
  return AnyGather::check_arguments(process, communicator);
}

FallbackReason GathervCall::run(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, given());
    mine.fetch();
    communicator.with_team(
        [&](auto& team) { team.gatherv(mine.data(), mine.bytes(), nullptr, {}, root); });
    return FallbackReason::none;
  }
  const Part own = output.block(root);
  OwnSendBlock mine(real, comm, given(), own);
  DenseBlocks all(real, comm, output, communicator.ranks);
  communicator.with_team(
      [&](auto& team) { team.gatherv(mine.data(), own.bytes(), all.base(), all.blocks(), root); });
  all.store();
  return verdict_of_root();
}

int GathervCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (output.counts().is_wide()) {
    return real.gatherv_c(input.address, input.count, input.type, output.address,
                          output.counts().wide(), output.displacements().wide(), output.type(),
                          root, comm);
  }
  return real.gatherv(input.address, static_cast<int>(input.count), input.type, output.address,
                      output.counts().narrow(), output.displacements().narrow(), output.type(),
                      root, comm);
}

FallbackReason ScatterCall::run(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, output.block(0));
    communicator.with_team(
        [&](auto& team) { team.scatter(nullptr, mine.data(), mine.bytes(), root); });
    mine.store();
    return FallbackReason::none;
  }
  const std::size_t bytes = input.bytes();
  Dense all(real, comm, input.all(communicator.ranks));
  all.fetch();
  if (output.is_in_place()) {
    std::byte* const own = all.data() + static_cast<std::size_t>(root) * bytes;
    communicator.with_team([&](auto& team) { team.scatter(all.data(), own, bytes, root); });
    return FallbackReason::none;
  }
  OwnReceiveBlock mine(real, comm, output.block(0), bytes);
  communicator.with_team([&](auto& team) { team.scatter(all.data(), mine.data(), bytes, root); });
  mine.store();
  return FallbackReason::none;
}

int ScatterCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.scatter_c(input.address, input.count, input.type, output.address, output.count,
                          output.type, root, comm);
  }
  return real.scatter(input.address, static_cast<int>(input.count), input.type, output.address,
                      static_cast<int>(output.count), output.type, root, comm);
}

std::size_t ScattervCall::bytes(const Communicator& communicator) const {
  if (output.is_in_place() && !is_root(communicator)) return 0;  // an error
  return output.is_in_place() ? input.bytes(communicator.rank) : output.bytes();
}

FallbackReason ScattervCall::run(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, output.block(0));
    communicator.with_team(
        [&](auto& team) { team.scatterv(nullptr, {}, mine.data(), mine.bytes(), root); });
    mine.store();
    return FallbackReason::none;
  }
  const std::size_t bytes = input.bytes(root);
  DenseBlocks all(real, comm, input, communicator.ranks);
  all.fetch();
  if (output.is_in_place()) {
    communicator.with_team(
        [&](auto& team) { team.scatterv(all.base(), all.blocks(), all.data(root), bytes, root); });
    return FallbackReason::none;
  }
  OwnReceiveBlock mine(real, comm, output.block(0), bytes);
  communicator.with_team(
      [&](auto& team) { team.scatterv(all.base(), all.blocks(), mine.data(), bytes, root); });
  mine.store();
  return FallbackReason::none;
}

int ScattervCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (input.counts().is_wide()) {
    return real.scatterv_c(input.address, input.counts().wide(), input.displacements().wide(),
                           input.type(), output.address, output.count, output.type, root, comm);
  }
  return real.scatterv(input.address, input.counts().narrow(), input.displacements().narrow(),
                       input.type(), output.address, static_cast<int>(output.count), output.type,
                       root, comm);
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Gather(const void* input, int in_count, Datatype in_type, void* output,
                             int out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(),
                   GatherCall{{BufferArgument(input, in_count, in_type),
                               BufferArgument(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gather_c(const void* input, Count in_count, Datatype in_type, void* output,
                               Count out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(),
                   GatherCall{{BufferArgument(input, in_count, in_type),
                               BufferArgument(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gatherv(const void* input, int in_count, Datatype in_type, void* output,
                              const int* out_counts, const int* out_places, Datatype out_type,
                              int root, Comm comm) {
  return carry_out(
      process(),
      GathervCall{{BufferArgument(input, in_count, in_type),
                   VectorBufferArgument(output, out_counts, out_places, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gatherv_c(const void* input, Count in_count, Datatype in_type, void* output,
                                const Count* out_counts, const Aint* out_places, Datatype out_type,
                                int root, Comm comm) {
  return carry_out(
      process(),
      GathervCall{{BufferArgument(input, in_count, in_type),
                   VectorBufferArgument(output, out_counts, out_places, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatter(const void* input, int in_count, Datatype in_type, void* output,
                              int out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(),
                   ScatterCall{{BufferArgument(input, in_count, in_type),
                                BufferArgument(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatter_c(const void* input, Count in_count, Datatype in_type, void* output,
                                Count out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(),
                   ScatterCall{{BufferArgument(input, in_count, in_type),
                                BufferArgument(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatterv(const void* input, const int* in_counts, const int* in_places,
                               Datatype in_type, void* output, int out_count, Datatype out_type,
                               int root, Comm comm) {
  return carry_out(process(),
                   ScattervCall{{VectorBufferArgument(input, in_counts, in_places, in_type),
                                 BufferArgument(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatterv_c(const void* input, const Count* in_counts, const Aint* in_places,
                                 Datatype in_type, void* output, Count out_count, Datatype out_type,
                                 int root, Comm comm) {
  return carry_out(process(),
                   ScattervCall{{VectorBufferArgument(input, in_counts, in_places, in_type),
                                 BufferArgument(output, out_count, out_type), root, comm}});
}
