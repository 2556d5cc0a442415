// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/allgather.h"

#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/own_block.h"

namespace huddle::mpi {

Route AllgatherCall::take(const Process& process, Communicator& communicator) const {
  const Part own = output.block(communicator.rank);
  OwnSendBlock mine(process.real(), comm, given(communicator), own);
  Dense all(process.real(), comm, output.all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.allgather(mine.data(), all.data(), output.bytes()); });
  all.store();
  return Route::huddle;
}

int AllgatherCall::native(const UnderlyingMpi& real) const {
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

Route AllgathervCall::take(const Process& process, Communicator& communicator) const {
  const Part own = output.block(communicator.rank);
  OwnSendBlock mine(process.real(), comm, given(communicator), own);
  DenseBlocks all(process.real(), comm, output, communicator.ranks);
  communicator.with_team(
      [&](auto& team) { team.allgatherv(mine.data(), all.base(), all.blocks()); });
  all.store();
  return Route::huddle;
}

int AllgathervCall::native(const UnderlyingMpi& real) const {
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
