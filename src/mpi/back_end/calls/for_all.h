// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is alike in the calls by which every rank gives to all and gets from all. Side and
// ListedSide are what the two sides of such a call are.
#pragma once

#include <cstddef>

#include "mpi/back_end/calls/listed_side.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/calls/written.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"

namespace huddle::mpi {

template <class Input, class Output>
struct ForAll {
  Input input;
  Output output;
  Comm comm;

  void look(const Process& process, Communicator& communicator) {
    if (!input.is_in_place()) input.look(process, communicator);
    output.look(process, communicator);
  }

  Route objection(const Process& /*process*/, const Communicator& communicator) const {
    const int ranks = communicator.ranks;
    const bool fine = !output.is_in_place() && output.is_right(ranks) &&
                      (input.is_in_place() || input.is_right(ranks));
    return fine ? Route::huddle : Route::for_judgement;
  }

  std::vector<Part> read(const Communicator& communicator) const {
    return input.is_in_place() ? std::vector<Part>() : all_blocks(input, communicator.ranks);
  }
  Written written(const Communicator& communicator) const {
    return {output.address, all_blocks(output, communicator.ranks)};
  }

 protected:
  // Whether the MPI refuses what would be in place, were it said so.
  static bool is_refused_alias(const void* from, const void* to, std::size_t bytes) {
    return aliases_are_refused && from == to && from != bottom && bytes > 0;
  }
};

}  // namespace huddle::mpi
