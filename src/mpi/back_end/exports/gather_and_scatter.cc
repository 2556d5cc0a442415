// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/gather.h"
#include "mpi/back_end/calls/scatter.h"
#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/exports/export.h"

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Gather(const void* input, int in_count, Datatype in_type, void* output,
                             int out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(), GatherCall{{Side(input, in_count, in_type),
                                          Side(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gather_c(const void* input, Count in_count, Datatype in_type, void* output,
                               Count out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(), GatherCall{{Side(input, in_count, in_type),
                                          Side(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gatherv(const void* input, int in_count, Datatype in_type, void* output,
                              const int* out_counts, const int* out_places, Datatype out_type,
                              int root, Comm comm) {
  return carry_out(process(),
                   GathervCall{{Side(input, in_count, in_type),
                                ListedSide(output, out_counts, out_places, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Gatherv_c(const void* input, Count in_count, Datatype in_type, void* output,
                                const Count* out_counts, const Aint* out_places, Datatype out_type,
                                int root, Comm comm) {
  return carry_out(process(),
                   GathervCall{{Side(input, in_count, in_type),
                                ListedSide(output, out_counts, out_places, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatter(const void* input, int in_count, Datatype in_type, void* output,
                              int out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(), ScatterCall{{Side(input, in_count, in_type),
                                           Side(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatter_c(const void* input, Count in_count, Datatype in_type, void* output,
                                Count out_count, Datatype out_type, int root, Comm comm) {
  return carry_out(process(), ScatterCall{{Side(input, in_count, in_type),
                                           Side(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatterv(const void* input, const int* in_counts, const int* in_places,
                               Datatype in_type, void* output, int out_count, Datatype out_type,
                               int root, Comm comm) {
  return carry_out(process(), ScattervCall{{ListedSide(input, in_counts, in_places, in_type),
                                            Side(output, out_count, out_type), root, comm}});
}

HUDDLE_EXPORT int MPI_Scatterv_c(const void* input, const Count* in_counts, const Aint* in_places,
                                 Datatype in_type, void* output, Count out_count, Datatype out_type,
                                 int root, Comm comm) {
  return carry_out(process(), ScattervCall{{ListedSide(input, in_counts, in_places, in_type),
                                            Side(output, out_count, out_type), root, comm}});
}
