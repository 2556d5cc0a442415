// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/reduce_scatter.h"
#include "mpi/back_end/calls/scan.h"
#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/exports/export.h"

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
