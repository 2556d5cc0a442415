// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/scatter.h"

#include "mpi/back_end/dense_blocks.h"
#include "mpi/back_end/own_block.h"

namespace huddle::mpi {

Route ScatterCall::take(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, output.block(0));
    communicator.with_team(
        [&](auto& team) { team.scatter(nullptr, mine.data(), mine.bytes(), root); });
    mine.store();
    return Route::huddle;
  }
  const std::size_t bytes = input.bytes();
  Dense all(real, comm, input.all(communicator.ranks));
  all.fetch();
  if (output.is_in_place()) {
    std::byte* const own = all.data() + static_cast<std::size_t>(root) * bytes;
    communicator.with_team([&](auto& team) { team.scatter(all.data(), own, bytes, root); });
    return Route::huddle;
  }
  OwnReceiveBlock mine(real, comm, output.block(0), bytes);
  communicator.with_team([&](auto& team) { team.scatter(all.data(), mine.data(), bytes, root); });
  mine.store();
  return Route::huddle;
}

int ScatterCall::native(const UnderlyingMpi& real) const {
  if (!fits_int(input.count) || !fits_int(output.count)) {
    return real.scatter_c(input.address, input.count, input.type, output.address, output.count,
                          output.type, root, comm);
  }
  return real.scatter(input.address, static_cast<int>(input.count), input.type, output.address,
                      static_cast<int>(output.count), output.type, root, comm);
}

std::size_t ScattervCall::bytes(const Communicator& communicator) const {
  return output.is_in_place() ? input.bytes(communicator.rank) : output.bytes();
}

Route ScattervCall::take(const Process& process, Communicator& communicator) const {
  const UnderlyingMpi& real = process.real();
  if (!is_root(communicator)) {
    Dense mine(real, comm, output.block(0));
    communicator.with_team(
        [&](auto& team) { team.scatterv(nullptr, {}, mine.data(), mine.bytes(), root); });
    mine.store();
    return Route::huddle;
  }
  const std::size_t bytes = input.bytes(root);
  DenseBlocks all(real, comm, input, communicator.ranks);
  all.fetch();
  if (output.is_in_place()) {
    communicator.with_team(
        [&](auto& team) { team.scatterv(all.base(), all.blocks(), all.data(root), bytes, root); });
    return Route::huddle;
  }
  OwnReceiveBlock mine(real, comm, output.block(0), bytes);
  communicator.with_team(
      [&](auto& team) { team.scatterv(all.base(), all.blocks(), mine.data(), bytes, root); });
  mine.store();
  return Route::huddle;
}

int ScattervCall::native(const UnderlyingMpi& real) const {
  if (input.counts().is_wide()) {
    return real.scatterv_c(input.address, input.counts().wide(), input.displacements().wide(),
                           input.type(), output.address, output.count, output.type, root, comm);
  }
  return real.scatterv(input.address, input.counts().narrow(), input.displacements().narrow(),
                       input.type(), output.address, static_cast<int>(output.count), output.type,
                       root, comm);
}

}  // namespace huddle::mpi
