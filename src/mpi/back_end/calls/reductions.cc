// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/calls/reductions.h"

#include <vector>

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/mpi_names.h"
#include "runtime/node/blocks.h"

namespace huddle::mpi {
namespace {

// Stands for a count that cannot be computed because the program's counts are invalid.
constexpr Count wrong_count = -1;

}  // namespace

FallbackReason AllreduceCall::check_arguments(const Process& process,
                                              const Communicator& /*communicator*/) const {
  const bool is_alias = input == output && count >= aliased_allreduce_from;
  const bool fine = is_valid(process, count) && !is_alias;
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

FallbackReason AllreduceCall::run(const Process& process, Communicator& communicator) const {
  const auto combine = [this](auto& team, const ReductionParts& parts,
                              const memory::Reduction& reduction) {
    team.allreduce(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return run_in_team(process, communicator, RankResult{true, count}, combine);
}

int AllreduceCall::run_by_mpi(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.allreduce(input, output, static_cast<int>(count), type, op, comm)
                         : real.allreduce_c(input, output, count, type, op, comm);
}

Written AllreduceCall::written(const Communicator& /*communicator*/) const {
  return {output, {part_of_output(count)}};
}

FallbackReason ReduceCall::check_arguments(const Process& process,
                                           const Communicator& communicator) const {
  const bool has_input =
      is_in_place() ? communicator.rank == root : is_valid_buffer(input, count, *facts);
  const bool fine = communicator.has_rank(root) && facts->is_type && count >= 0 && has_input &&
                    !process.operators().is_null(op);
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

// Returns whether the root's output is invalid, which only the root can detect.
bool ReduceCall::is_wrong_at_root() const {
  const bool is_alias = input == output && count > 0;
  return is_alias || output == in_place() || !is_valid_buffer(output, count, *facts);
}

FallbackReason ReduceCall::run(const Process& process, Communicator& communicator) const {
  const bool is_root = communicator.rank == root;
  if (is_root && is_wrong_at_root()) return take_part_and_discard(process, communicator);
  const auto combine = [this](auto& team, const ReductionParts& parts,
                              const memory::Reduction& reduction) {
    team.reduce(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction, root);
  };
  return run_in_team(process, communicator, RankResult{is_root, count}, combine);
}

// The other ranks cannot detect the error and have entered the call: the root takes part with
// temporary buffers and discards the result.
FallbackReason ReduceCall::take_part_and_discard(const Process& process,
                                                 Communicator& communicator) const {
  const Reducer reducer(process.real(), process.types(), process.operators(), comm, type, *facts,
                        op);
  if (!reducer.can_reduce() || !communicator.can_reduce(reducer.reduction())) {
    return FallbackReason::no_reduction;
  }
  const memory::Reduction& reduction = reducer.reduction();
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::byte> input_aside(size * reduction.element_bytes);
  std::vector<std::byte> output_aside(size * reduction.element_bytes);
  communicator.with_team([&](auto& team) {
    team.reduce(input_aside.data(), output_aside.data(), size, reduction, root);
  });
  return FallbackReason::invalid_arguments;
}

int ReduceCall::run_by_mpi(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.reduce(input, output, static_cast<int>(count), type, op, root, comm)
                         : real.reduce_c(input, output, count, type, op, root, comm);
}

Written ReduceCall::written(const Communicator& communicator) const {
  if (communicator.rank != root || is_wrong_at_root()) return {};
  return {output, {part_of_output(count)}};
}

FallbackReason AnyReduceScatter::check_block_arguments(const Process& process, Count gotten) const {
  const bool fine = is_valid(process, gotten) && !is_refused_alias();
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

FallbackReason AnyReduceScatter::run_blocks(const Process& process, Communicator& communicator,
                                            const node::Blocks& shares) const {
  const Count mine = static_cast<Count>(shares.of(communicator.rank).bytes);
  const auto combine = [&](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.reduce_scatter(parts.input(), parts.output(), shares, reduction);
  };
  return run_in_team(process, communicator, RankResult{true, mine}, combine);
}

Written AnyReduceScatter::written_block(Count gotten) const {
  Written written{output, {part_of_output(gotten)}};
  if (is_in_place()) written.read = part_of_input();
  return written;
}

void ReduceScatterBlockCall::inspect(const Process& process, Communicator& communicator) {
  AnyReduction::inspect(process, communicator);
  count = block < 0 ? wrong_count : block * communicator.ranks;
}

FallbackReason ReduceScatterBlockCall::check_arguments(const Process& process,
                                                       const Communicator& /*communicator*/) const {
  return check_block_arguments(process, block);
}

FallbackReason ReduceScatterBlockCall::run(const Process& process,
                                           Communicator& communicator) const {
  return run_blocks(process, communicator, node::Blocks::even(static_cast<std::size_t>(block)));
}

int ReduceScatterBlockCall::run_by_mpi(const UnderlyingMpi& real) const {
  return fits_int(block)
             ? real.reduce_scatter_block(input, output, static_cast<int>(block), type, op, comm)
             : real.reduce_scatter_block_c(input, output, block, type, op, comm);
}

Written ReduceScatterBlockCall::written(const Communicator& /*communicator*/) const {
  return written_block(block);
}

void ReduceScatterCall::inspect(const Process& process, Communicator& communicator) {
  AnyReduction::inspect(process, communicator);
  count = blocks.is_there() ? 0 : wrong_count;
  for (int rank = 0; count != wrong_count && rank < communicator.ranks; ++rank) {
    count = blocks[rank] < 0 ? wrong_count : count + blocks[rank];
  }
}

FallbackReason ReduceScatterCall::check_arguments(const Process& process,
                                                  const Communicator& communicator) const {
  return count < 0 ? FallbackReason::invalid_arguments
                   : check_block_arguments(process, blocks[communicator.rank]);
}

FallbackReason ReduceScatterCall::run(const Process& process, Communicator& communicator) const {
  std::vector<node::Block> shares(static_cast<std::size_t>(communicator.ranks));
  std::ptrdiff_t from = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const Count of_rank = blocks[static_cast<int>(rank)];
    shares[rank] = {from, static_cast<std::size_t>(of_rank)};
    from += of_rank;
  }
  return run_blocks(process, communicator, node::Blocks::listed(shares));
}

int ReduceScatterCall::run_by_mpi(const UnderlyingMpi& real) const {
  return blocks.is_wide() ? real.reduce_scatter_c(input, output, blocks.wide(), type, op, comm)
                          : real.reduce_scatter(input, output, blocks.narrow(), type, op, comm);
}

Written ReduceScatterCall::written(const Communicator& communicator) const {
  return written_block(blocks[communicator.rank]);
}

FallbackReason ScanCall::check_arguments(const Process& process,
                                         const Communicator& /*communicator*/) const {
  const bool fine = is_valid(process, count) && !is_refused_alias();
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

FallbackReason ScanCall::run(const Process& process, Communicator& communicator) const {
  const auto combine = [this](auto& team, const ReductionParts& parts,
                              const memory::Reduction& reduction) {
    team.scan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return run_in_team(process, communicator, RankResult{true, count}, combine);
}

int ScanCall::run_by_mpi(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.scan(input, output, static_cast<int>(count), type, op, comm)
                         : real.scan_c(input, output, count, type, op, comm);
}

Written ScanCall::written(const Communicator& /*communicator*/) const {
  return {output, {part_of_output(count)}};
}

FallbackReason ExscanCall::check_arguments(const Process& process,
                                           const Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const bool fine = is_valid(process, is_first ? 0 : count) && !is_refused_alias();
  return fine ? FallbackReason::none : FallbackReason::invalid_arguments;
}

FallbackReason ExscanCall::run(const Process& process, Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const auto combine = [this](auto& team, const ReductionParts& parts,
                              const memory::Reduction& reduction) {
    team.exscan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return run_in_team(process, communicator, RankResult{!is_first, count}, combine);
}

int ExscanCall::run_by_mpi(const UnderlyingMpi& real) const {
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
