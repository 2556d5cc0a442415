// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/reduce_scatter.h"

#include <vector>

#include "runtime/node/blocks.h"

namespace huddle::mpi {
namespace {

// Of what a rank brings, where the program's numbers make no sense.
constexpr Count wrong_count = -1;

}  // namespace

Route AnyReduceScatter::objection_to(const Process& process, Count gotten) const {
  const bool fine = is_right(process, gotten) && !is_refused_alias();
  return fine ? Route::huddle : Route::for_judgement;
}

Route AnyReduceScatter::take_blocks(const Process& process, Communicator& communicator,
                                    const node::Blocks& shares) const {
  const Count mine = static_cast<Count>(shares.of(communicator.rank).bytes);
  const auto join = [&](auto& team, const ReductionParts& parts,
                        const memory::Reduction& reduction) {
    team.reduce_scatter(parts.input(), parts.output(), shares, reduction);
  };
  return take_by(process, communicator, Gotten{true, mine}, join);
}

Written AnyReduceScatter::written_block(Count gotten) const {
  Written written{output, {part_of_output(gotten)}};
  if (is_in_place()) written.read = part_of_input();
  return written;
}

void ReduceScatterBlockCall::look(const Process& process, Communicator& communicator) {
  AnyReduction::look(process, communicator);
  count = block < 0 ? wrong_count : block * communicator.ranks;
}

Route ReduceScatterBlockCall::objection(const Process& process,
                                        const Communicator& /*communicator*/) const {
  return objection_to(process, block);
}

Route ReduceScatterBlockCall::take(const Process& process, Communicator& communicator) const {
  return take_blocks(process, communicator, node::Blocks::even(static_cast<std::size_t>(block)));
}

int ReduceScatterBlockCall::native(const UnderlyingMpi& real) const {
  return fits_int(block)
             ? real.reduce_scatter_block(input, output, static_cast<int>(block), type, op, comm)
             : real.reduce_scatter_block_c(input, output, block, type, op, comm);
}

Written ReduceScatterBlockCall::written(const Communicator& /*communicator*/) const {
  return written_block(block);
}

void ReduceScatterCall::look(const Process& process, Communicator& communicator) {
  AnyReduction::look(process, communicator);
  count = blocks.is_there() ? 0 : wrong_count;
  for (int rank = 0; count != wrong_count && rank < communicator.ranks; ++rank) {
    count = blocks[rank] < 0 ? wrong_count : count + blocks[rank];
  }
}

Route ReduceScatterCall::objection(const Process& process, const Communicator& communicator) const {
  return count < 0 ? Route::for_judgement : objection_to(process, blocks[communicator.rank]);
}

Route ReduceScatterCall::take(const Process& process, Communicator& communicator) const {
  std::vector<node::Block> shares(static_cast<std::size_t>(communicator.ranks));
  std::ptrdiff_t from = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const Count of_rank = blocks[static_cast<int>(rank)];
    shares[rank] = {from, static_cast<std::size_t>(of_rank)};
    from += of_rank;
  }
  return take_blocks(process, communicator, node::Blocks::listed(shares));
}

int ReduceScatterCall::native(const UnderlyingMpi& real) const {
  return blocks.is_wide() ? real.reduce_scatter_c(input, output, blocks.wide(), type, op, comm)
                          : real.reduce_scatter(input, output, blocks.narrow(), type, op, comm);
}

Written ReduceScatterCall::written(const Communicator& communicator) const {
  return written_block(blocks[communicator.rank]);
}

}  // namespace huddle::mpi
