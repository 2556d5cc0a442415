// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/mockups.h"

#include <cstring>
#include <stdexcept>

namespace huddle::bench::ranks {
namespace {

int bytes_in(Extent extent, const CallData& at) {
  return static_cast<int>(bytes_of(extent, at.bytes, at.ranks));
}
int numbers_in(Extent extent, const CallData& at) {
  return bytes_in(extent, at) / static_cast<int>(sizeof(double));
}
std::size_t own_place(const CallData& at) { return static_cast<std::size_t>(at.rank) * at.bytes; }

void barrier_by_allreduce(const Functions& mpi, const Sides& sides, const CallData&,
                          const Scratch& scratch) {
  mpi.allreduce(scratch.input, scratch.output, 1, sides.number, sides.sum, sides.world);
}

void bcast_by_scatter_allgather(const Functions& mpi, const Sides& sides, const CallData& at,
                                const Scratch& scratch) {
  const int part = bytes_in(Extent::part, at);
  mpi.scatter(at.output, part, sides.byte, scratch.input, part, sides.byte, at.root, sides.world);
  mpi.allgather(scratch.input, part, sides.byte, at.output, part, sides.byte, sides.world);
}

void reduce_by_scattered_gather(const Functions& mpi, const Sides& sides, const CallData& at,
                                const Scratch& scratch) {
  const int part = numbers_in(Extent::part, at);
  mpi.reduce_scatter_block(at.input, scratch.output, part, sides.number, sides.sum, sides.world);
  mpi.gather(scratch.output, part, sides.number, at.output, part, sides.number, at.root,
             sides.world);
}

void allreduce_by_reduce_bcast(const Functions& mpi, const Sides& sides, const CallData& at,
                               const Scratch&) {
  call_function_of(Operation::reduce)(mpi, sides, at);
  mpi.bcast(at.output, numbers_in(Extent::whole, at), sides.number, at.root, sides.world);
}

void allreduce_by_scattered_allgather(const Functions& mpi, const Sides& sides, const CallData& at,
                                      const Scratch& scratch) {
  const int part = numbers_in(Extent::part, at);
  mpi.reduce_scatter_block(at.input, scratch.output, part, sides.number, sides.sum, sides.world);
  mpi.allgather(scratch.output, part, sides.number, at.output, part, sides.number, sides.world);
}

void allgather_by_gather_bcast(const Functions& mpi, const Sides& sides, const CallData& at,
                               const Scratch&) {
  call_function_of(Operation::gather)(mpi, sides, at);
  mpi.bcast(at.output, bytes_in(Extent::all, at), sides.byte, at.root, sides.world);
}

void allgather_by_alltoall(const Functions& mpi, const Sides& sides, const CallData& at,
                           const Scratch& scratch) {
  for (int rank = 0; rank < at.ranks; ++rank) {
    std::memcpy(scratch.input + static_cast<std::size_t>(rank) * at.bytes, at.input, at.bytes);
  }
  const int block = bytes_in(Extent::whole, at);
  mpi.alltoall(scratch.input, block, sides.byte, at.output, block, sides.byte, sides.world);
}

// Prepares an input for MPI_BOR that contains the own block and zeros.
void place_own_block(const CallData& at, const Scratch& scratch) {
  std::memset(scratch.input, 0, bytes_of(Extent::all, at.bytes, at.ranks));
  std::memcpy(scratch.input + own_place(at), at.input, at.bytes);
}

void allgather_by_allreduce(const Functions& mpi, const Sides& sides, const CallData& at,
                            const Scratch& scratch) {
  place_own_block(at, scratch);
  mpi.allreduce(scratch.input, at.output, numbers_in(Extent::all, at), sides.word, sides.bit_or,
                sides.world);
}

void gather_by_reduce(const Functions& mpi, const Sides& sides, const CallData& at,
                      const Scratch& scratch) {
  place_own_block(at, scratch);
  mpi.reduce(scratch.input, at.output, numbers_in(Extent::all, at), sides.word, sides.bit_or,
             at.root, sides.world);
}

void scatter_by_bcast(const Functions& mpi, const Sides& sides, const CallData& at,
                      const Scratch& scratch) {
  std::byte* const message = at.rank == at.root ? at.input : scratch.input;
  mpi.bcast(message, bytes_in(Extent::all, at), sides.byte, at.root, sides.world);
  std::memcpy(at.output, message + own_place(at), at.bytes);
}

void reduce_scatter_block_by_reduce_then_scatter(const Functions& mpi, const Sides& sides,
                                                 const CallData& at, const Scratch& scratch) {
  mpi.reduce(at.input, scratch.output, numbers_in(Extent::all, at), sides.number, sides.sum,
             at.root, sides.world);
  const int block = numbers_in(Extent::whole, at);
  mpi.scatter(scratch.output, block, sides.number, at.output, block, sides.number, at.root,
              sides.world);
}

void reduce_scatter_block_by_allreduce(const Functions& mpi, const Sides& sides, const CallData& at,
                                       const Scratch& scratch) {
  mpi.allreduce(at.input, scratch.output, numbers_in(Extent::all, at), sides.number, sides.sum,
                sides.world);
  std::memcpy(at.output, scratch.output + own_place(at), at.bytes);
}

struct Numbers {
  const double* input;
  double* output;
  std::size_t count;
};
Numbers numbers_of(const CallData& at) {
  return {reinterpret_cast<const double*>(at.input), reinterpret_cast<double*>(at.output),
          at.bytes / sizeof(double)};
}

void scan_by_exscan(const Functions& mpi, const Sides& sides, const CallData& at, const Scratch&) {
  call_function_of(Operation::exscan)(mpi, sides, at);
  // MPI_Exscan leaves the output of rank 0 undefined.
  if (at.rank == 0) {
    std::memcpy(at.output, at.input, at.bytes);
    return;
  }
  const Numbers numbers = numbers_of(at);
  for (std::size_t i = 0; i < numbers.count; ++i) numbers.output[i] += numbers.input[i];
}

// Subtracts the own contribution, which is exact for the test data.
void exscan_by_scan(const Functions& mpi, const Sides& sides, const CallData& at, const Scratch&) {
  call_function_of(Operation::scan)(mpi, sides, at);
  const Numbers numbers = numbers_of(at);
  for (std::size_t i = 0; i < numbers.count; ++i) numbers.output[i] -= numbers.input[i];
}

// The mock-ups that consist of one call with the same arguments.
template <Operation operation>
void by(const Functions& mpi, const Sides& sides, const CallData& at, const Scratch&) {
  call_function_of(operation)(mpi, sides, at);
}

}  // namespace

MockupFunction* mockup_function_of(Mockup mockup) {
  switch (mockup) {
    case Mockup::barrier_by_allreduce:
      return barrier_by_allreduce;
    case Mockup::bcast_by_scatter_allgather:
      return bcast_by_scatter_allgather;
    case Mockup::reduce_by_allreduce:
      return by<Operation::allreduce>;
    case Mockup::reduce_by_scattered_gather:
      return reduce_by_scattered_gather;
    case Mockup::allreduce_by_reduce_bcast:
      return allreduce_by_reduce_bcast;
    case Mockup::allreduce_by_scattered_allgather:
      return allreduce_by_scattered_allgather;
    case Mockup::allgather_by_gather_bcast:
      return allgather_by_gather_bcast;
    case Mockup::allgather_by_alltoall:
      return allgather_by_alltoall;
    case Mockup::allgather_by_allreduce:
      return allgather_by_allreduce;
    case Mockup::allgather_by_allgatherv:
      return by<Operation::allgatherv>;
    case Mockup::alltoall_by_alltoallv:
      return by<Operation::alltoallv>;
    case Mockup::gather_by_allgather:
      return by<Operation::allgather>;
    case Mockup::gather_by_reduce:
      return gather_by_reduce;
    case Mockup::gather_by_gatherv:
      return by<Operation::gatherv>;
    case Mockup::scatter_by_bcast:
      return scatter_by_bcast;
    case Mockup::scatter_by_scatterv:
      return by<Operation::scatterv>;
    case Mockup::reduce_scatter_block_by_reduce_scatter:
      return by<Operation::reduce_scatter>;
    case Mockup::reduce_scatter_block_by_reduce_then_scatter:
      return reduce_scatter_block_by_reduce_then_scatter;
    case Mockup::reduce_scatter_block_by_allreduce:
      return reduce_scatter_block_by_allreduce;
    case Mockup::scan_by_exscan:
      return scan_by_exscan;
    case Mockup::exscan_by_scan:
      return exscan_by_scan;
    case Mockup::none:
      break;
  }
  throw std::runtime_error("an operation itself is not a mock-up");
}

}  // namespace huddle::bench::ranks
