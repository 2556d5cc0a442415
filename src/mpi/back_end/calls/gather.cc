// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/gather.h"

#include <vector>

#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/own_block.h"

namespace huddle::mpi {

Route GatherCall::take(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (is_wrong_at_root(communicator)) return take_for_nothing(process, communicator);
  if (!is_root(communicator)) {
    Dense mine(real, comm, given());
    mine.fetch();
    communicator.with_team(
        [&](auto& team) { team.gather(mine.data(), nullptr, mine.bytes(), root); });
    return Route::huddle;
  }
  OwnSendBlock mine(real, comm, given(), output.block(root));
  Dense all(real, comm, output.all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.gather(mine.data(), all.data(), output.bytes(), root); });
  all.store();
  return verdict_of_root();
}

// The others cannot know, and are in it already: the root takes part, and has nothing of it.
Route GatherCall::take_for_nothing(const Process& process, Communicator& communicator) const {
  Dense mine(process.real(), comm, given());
  mine.fetch();
  std::vector<std::byte> aside(input.bytes_of_all(communicator.ranks));
  communicator.with_team(
      [&](auto& team) { team.gather(mine.data(), aside.data(), input.bytes(), root); });
  return Route::for_judgement;
}

int GatherCall::native(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.gather_c(input.address, input.count, input.type, output.address, output.count,
                         output.type, root, comm);
  }
  return real.gather(input.address, static_cast<int>(input.count), input.type, output.address,
                     static_cast<int>(output.count), output.type, root, comm);
}

std::size_t GathervCall::bytes(const Communicator& communicator) const {
  return input.is_in_place() ? output.bytes(communicator.rank) : input.bytes();
}

// How much the others send, a root whose counts are wrong does not know.
Route GathervCall::objection(const Process& process, const Communicator& communicator) const {
  if (is_wrong_at_root(communicator)) return Route::for_judgement;
  return AnyGather::objection(process, communicator);
}

Route GathervCall::take(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, given());
    mine.fetch();
    communicator.with_team(
        [&](auto& team) { team.gatherv(mine.data(), mine.bytes(), nullptr, {}, root); });
    return Route::huddle;
  }
  const Part own = output.block(root);
  OwnSendBlock mine(real, comm, given(), own);
  DenseBlocks all(real, comm, output, communicator.ranks);
  communicator.with_team(
      [&](auto& team) { team.gatherv(mine.data(), own.bytes(), all.base(), all.blocks(), root); });
  all.store();
  return verdict_of_root();
}

int GathervCall::native(const UnderlyingMpi& real) const {
  if (output.counts().is_wide()) {
    return real.gatherv_c(input.address, input.count, input.type, output.address,
                          output.counts().wide(), output.displacements().wide(), output.type(),
                          root, comm);
  }
  return real.gatherv(input.address, static_cast<int>(input.count), input.type, output.address,
                      output.counts().narrow(), output.displacements().narrow(), output.type(),
                      root, comm);
}

}  // namespace huddle::mpi
