// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/reductions.h"

#include <vector>

#include "mpi/back_end/call.h"
#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/mpi_names.h"
#include "runtime/node/blocks.h"

namespace huddle::mpi {
namespace {

// Stands for a count that cannot be computed because the program's counts are invalid.
constexpr Count wrong_count = -1;

}  // namespace

Route AnyReduceScatter::objection_to(const Process& process, Count gotten) const {
  const bool fine = is_right(process, gotten) && !is_refused_alias();
  return fine ? Route::huddle : Route::invalid_arguments;
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
  return count < 0 ? Route::invalid_arguments : objection_to(process, blocks[communicator.rank]);
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

Route ScanCall::objection(const Process& process, const Communicator& /*communicator*/) const {
  const bool fine = is_right(process, count) && !is_refused_alias();
  return fine ? Route::huddle : Route::invalid_arguments;
}

Route ScanCall::take(const Process& process, Communicator& communicator) const {
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.scan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return take_by(process, communicator, Gotten{true, count}, join);
}

int ScanCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.scan(input, output, static_cast<int>(count), type, op, comm)
                         : real.scan_c(input, output, count, type, op, comm);
}

Written ScanCall::written(const Communicator& /*communicator*/) const {
  return {output, {part_of_output(count)}};
}

Route ExscanCall::objection(const Process& process, const Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const bool fine = is_right(process, is_first ? 0 : count) && !is_refused_alias();
  return fine ? Route::huddle : Route::invalid_arguments;
}

Route ExscanCall::take(const Process& process, Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.exscan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return take_by(process, communicator, Gotten{!is_first, count}, join);
}

int ExscanCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.exscan(input, output, static_cast<int>(count), type, op, comm)
                         : real.exscan_c(input, output, count, type, op, comm);
}

Written ExscanCall::written(const Communicator& communicator) const {
  return communicator.rank == 0 ? Written{} : Written{output, {part_of_output(count)}};
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Reduce(const void* input, void* output, int count, Datatype type, Op op,
                             int root, Comm comm) {
  return carry_out(process(), ReduceCall{{input, output, count, type, op, comm}, root});
}

HUDDLE_EXPORT int MPI_Reduce_c(const void* input, void* output, Count count, Datatype type, Op op,
                               int root, Comm comm) {
  return carry_out(process(), ReduceCall{{input, output, count, type, op, comm}, root});
}

HUDDLE_EXPORT int MPI_Allreduce(const void* input, void* output, int count, Datatype type, Op op,
                                Comm comm) {
  return carry_out(process(), AllreduceCall{{input, output, count, type, op, comm}});
}

HUDDLE_EXPORT int MPI_Allreduce_c(const void* input, void* output, Count count, Datatype type,
                                  Op op, Comm comm) {
  return carry_out(process(), AllreduceCall{{input, output, count, type, op, comm}});
}

HUDDLE_EXPORT int MPI_Reduce_scatter(const void* input, void* output, const int* counts,
                                     Datatype type, Op op, Comm comm) {
  return carry_out(process(), ReduceScatterCall{{{input, output, 0, type, op, comm}}, counts});
}

HUDDLE_EXPORT int MPI_Reduce_scatter_c(const void* input, void* output, const Count* counts,
                                       Datatype type, Op op, Comm comm) {
  return carry_out(process(), ReduceScatterCall{{{input, output, 0, type, op, comm}}, counts});
}

HUDDLE_EXPORT int MPI_Reduce_scatter_block(const void* input, void* output, int count,
                                           Datatype type, Op op, Comm comm) {
  return carry_out(process(), ReduceScatterBlockCall{{{input, output, 0, type, op, comm}}, count});
}

HUDDLE_EXPORT int MPI_Reduce_scatter_block_c(const void* input, void* output, Count count,
                                             Datatype type, Op op, Comm comm) {
  return carry_out(process(), ReduceScatterBlockCall{{{input, output, 0, type, op, comm}}, count});
}

HUDDLE_EXPORT int MPI_Scan(const void* input, void* output, int count, Datatype type, Op op,
                           Comm comm) {
  return carry_out(process(), ScanCall{{input, output, count, type, op, comm}});
}

HUDDLE_EXPORT int MPI_Scan_c(const void* input, void* output, Count count, Datatype type, Op op,
                             Comm comm) {
  return carry_out(process(), ScanCall{{input, output, count, type, op, comm}});
}

HUDDLE_EXPORT int MPI_Exscan(const void* input, void* output, int count, Datatype type, Op op,
                             Comm comm) {
  return carry_out(process(), ExscanCall{{input, output, count, type, op, comm}});
}

HUDDLE_EXPORT int MPI_Exscan_c(const void* input, void* output, Count count, Datatype type, Op op,
                               Comm comm) {
  return carry_out(process(), ExscanCall{{input, output, count, type, op, comm}});
}
