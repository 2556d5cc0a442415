// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Reduce_scatter and MPI_Reduce_scatter_block.
#pragma once

#include "mpi/back_end/calls/numbers_of_program.h"
#include "mpi/back_end/calls/reduction.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// What is alike in the two: all that a rank brings is `count`,
// which look() finds out, and what it gets is a block of that.
struct AnyReduceScatter : AnyReduction {
 protected:
  Written written_block(Count gotten) const;
  Route objection_to(const Process& process, Count gotten) const;
  // shares: of each rank, in elements.
  Route take_blocks(const Process& process, Communicator& communicator,
                    const node::Blocks& shares) const;
};

struct ReduceScatterBlockCall : AnyReduceScatter {
  static constexpr select::Operation operation = select::Operation::reduce_scatter_block;
  Count block;

  void look(const Process& process, Communicator& communicator);
  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

struct ReduceScatterCall : AnyReduceScatter {
  static constexpr select::Operation operation = select::Operation::reduce_scatter;
  using Counts = ProgramNumbers<Count>;
  Counts blocks;

  void look(const Process& process, Communicator& communicator);
  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

}  // namespace huddle::mpi
