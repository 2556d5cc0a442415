// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/sides.h"

#include <stdexcept>

namespace huddle::bench::ranks {
namespace {

int int_of(std::size_t count) { return static_cast<int>(count); }
int numbers_in(const CallData& at) { return int_of(at.bytes / sizeof(double)); }

void bcast(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.bcast(at.output, int_of(at.bytes), sides.byte, at.root, sides.world);
}
void reduce(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.reduce(at.input, at.output, numbers_in(at), sides.number, sides.sum, at.root, sides.world);
}
void allreduce(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.allreduce(at.input, at.output, numbers_in(at), sides.number, sides.sum, sides.world);
}
void allgather(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.allgather(at.input, int_of(at.bytes), sides.byte, at.output, int_of(at.bytes), sides.byte,
                sides.world);
}
void allgatherv(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.allgatherv(at.input, int_of(at.bytes), sides.byte, at.output, at.byte_counts.data(),
                 at.byte_places.data(), sides.byte, sides.world);
}
void alltoall(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.alltoall(at.input, int_of(at.bytes), sides.byte, at.output, int_of(at.bytes), sides.byte,
               sides.world);
}
void alltoallv(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.alltoallv(at.input, at.byte_counts.data(), at.byte_places.data(), sides.byte, at.output,
                at.byte_counts.data(), at.byte_places.data(), sides.byte, sides.world);
}
void gather(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.gather(at.input, int_of(at.bytes), sides.byte, at.output, int_of(at.bytes), sides.byte,
             at.root, sides.world);
}
void gatherv(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.gatherv(at.input, int_of(at.bytes), sides.byte, at.output, at.byte_counts.data(),
              at.byte_places.data(), sides.byte, at.root, sides.world);
}
void scatter(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.scatter(at.input, int_of(at.bytes), sides.byte, at.output, int_of(at.bytes), sides.byte,
              at.root, sides.world);
}
void scatterv(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.scatterv(at.input, at.byte_counts.data(), at.byte_places.data(), sides.byte, at.output,
               int_of(at.bytes), sides.byte, at.root, sides.world);
}
void reduce_scatter(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.reduce_scatter(at.input, at.output, at.number_counts.data(), sides.number, sides.sum,
                     sides.world);
}
void reduce_scatter_block(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.reduce_scatter_block(at.input, at.output, numbers_in(at), sides.number, sides.sum,
                           sides.world);
}
void scan(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.scan(at.input, at.output, numbers_in(at), sides.number, sides.sum, sides.world);
}
void exscan(const Functions& mpi, const Sides& sides, const CallData& at) {
  mpi.exscan(at.input, at.output, numbers_in(at), sides.number, sides.sum, sides.world);
}

}  // namespace

CallFunction* call_function_of(Operation operation) {
  switch (operation) {
    case Operation::bcast:
      return bcast;
    case Operation::reduce:
      return reduce;
    case Operation::allreduce:
      return allreduce;
    case Operation::allgather:
      return allgather;
    case Operation::allgatherv:
      return allgatherv;
    case Operation::alltoall:
      return alltoall;
    case Operation::alltoallv:
      return alltoallv;
    case Operation::gather:
      return gather;
    case Operation::gatherv:
      return gatherv;
    case Operation::scatter:
      return scatter;
    case Operation::scatterv:
      return scatterv;
    case Operation::reduce_scatter:
      return reduce_scatter;
    case Operation::reduce_scatter_block:
      return reduce_scatter_block;
    case Operation::scan:
      return scan;
    case Operation::exscan:
      return exscan;
    case Operation::barrier:
    case Operation::alltoallw:
      break;
  }
  throw std::runtime_error("huddle bench cannot time this operation");
}

}  // namespace huddle::bench::ranks
