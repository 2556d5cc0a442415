// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/bcast.h"

#include <vector>

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/mpi_names.h"

namespace huddle::mpi {

FallbackReason BarrierCall::run(const Process& /*process*/, Communicator& communicator) const {
  communicator.with_team([](auto& team) { team.barrier(); });
  return FallbackReason::none;
}

void BcastCall::inspect(const Process& process, Communicator& communicator) {
  facts = &facts_of(process, communicator, type);
}

std::size_t BcastCall::bytes(const Communicator& /*communicator*/) const {
  return bytes_of(count, *facts);
}

FallbackReason BcastCall::check_arguments(const Process& /*process*/,
                                          const Communicator& communicator) const {
  const bool fine =
      communicator.has_rank(root) && is_valid_buffer(output, count, *facts) && output != in_place();
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

FallbackReason BcastCall::run(const Process& process, Communicator& communicator) const {
  Dense data(process.real(), comm, part());
  const bool is_root = communicator.rank == root;
  if (is_root) data.fetch();
  communicator.with_team([&](auto& team) { team.bcast(data.data(), data.bytes(), root); });
  if (!is_root) data.store();
  return FallbackReason::none;
}

int BcastCall::run_by_mpi(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.bcast(output, static_cast<int>(count), type, root, comm)
                         : real.bcast_c(output, count, type, root, comm);
}

std::vector<Part> BcastCall::read(const Communicator& communicator) const {
  return communicator.rank == root ? std::vector<Part>{part()} : std::vector<Part>();
}

Written BcastCall::written(const Communicator& /*communicator*/) const {
  return {output, {part()}};
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Barrier(Comm comm) { return carry_out(process(), BarrierCall{comm}); }

HUDDLE_EXPORT int MPI_Bcast(void* buffer, int count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}

HUDDLE_EXPORT int MPI_Bcast_c(void* buffer, Count count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}
