// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/allgather.h"

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/mpi_names.h"

namespace huddle::mpi {

FallbackReason AllgatherCall::run(const Process& process, Communicator& communicator) const {
  const Part own = output.block(communicator.rank);
  OwnSendBlock mine(process.real(), comm, given(communicator), own);
  Dense all(process.real(), comm, output.all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.allgather(mine.data(), all.data(), output.bytes()); });
  all.store();
  return FallbackReason::none;
}

int AllgatherCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.allgather_c(input.address, input.count, input.type, output.address, output.count,
                            output.type, comm);
  }
  return real.allgather(input.address, static_cast<int>(input.count), input.type, output.address,
                        static_cast<int>(output.count), output.type, comm);
}

std::size_t AllgathervCall::bytes(const Communicator& communicator) const {
  return output.bytes(communicator.rank);
}

FallbackReason AllgathervCall::run(const Process& process, Communicator& communicator) const {
  const Part own = output.block(communicator.rank);
  OwnSendBlock mine(process.real(), comm, given(communicator), own);
  DenseBlocks all(process.real(), comm, output, communicator.ranks);
  communicator.with_team(
      [&](auto& team) { team.allgatherv(mine.data(), all.base(), all.blocks()); });
  all.store();
  return FallbackReason::none;
}

int AllgathervCall::run_by_mpi(const UnderlyingMpi& real) const {
  if (output.counts().is_wide()) {
    return real.allgatherv_c(input.address, input.count, input.type, output.address,
                             output.counts().wide(), output.displacements().wide(), output.type(),
                             comm);
  }
  return real.allgatherv(input.address, static_cast<int>(input.count), input.type, output.address,
                         output.counts().narrow(), output.displacements().narrow(), output.type(),
                         comm);
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Allgather(const void* input, int in_count, Datatype in_type, void* output,
                                int out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AllgatherCall{{{BufferArgument(input, in_count, in_type),
                                              BufferArgument(output, out_count, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Allgather_c(const void* input, Count in_count, Datatype in_type, void* output,
                                  Count out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AllgatherCall{{{BufferArgument(input, in_count, in_type),
                                              BufferArgument(output, out_count, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Allgatherv(const void* input, int in_count, Datatype in_type, void* output,
                                 const int* out_counts, const int* out_places, Datatype out_type,
                                 Comm comm) {
  return carry_out(
      process(),
      AllgathervCall{{{BufferArgument(input, in_count, in_type),
                       VectorBufferArgument(output, out_counts, out_places, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Allgatherv_c(const void* input, Count in_count, Datatype in_type,
                                   void* output, const Count* out_counts, const Aint* out_places,
                                   Datatype out_type, Comm comm) {
  return carry_out(
      process(),
      AllgathervCall{{{BufferArgument(input, in_count, in_type),
                       VectorBufferArgument(output, out_counts, out_places, out_type), comm}}});
}
