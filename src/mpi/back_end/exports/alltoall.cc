// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/alltoall.h"
#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/exports/export.h"

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Alltoall(const void* input, int in_count, Datatype in_type, void* output,
                               int out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AlltoallCall{{Side(input, in_count, in_type),
                                            Side(output, out_count, out_type), comm}});
}

HUDDLE_EXPORT int MPI_Alltoall_c(const void* input, Count in_count, Datatype in_type, void* output,
                                 Count out_count, Datatype out_type, Comm comm) {
  return carry_out(process(), AlltoallCall{{Side(input, in_count, in_type),
                                            Side(output, out_count, out_type), comm}});
}

HUDDLE_EXPORT int MPI_Alltoallv(const void* input, const int* in_counts, const int* in_places,
                                Datatype in_type, void* output, const int* out_counts,
                                const int* out_places, Datatype out_type, Comm comm) {
  return carry_out(process(),
                   AlltoallvCall{{{ListedSide(input, in_counts, in_places, in_type),
                                   ListedSide(output, out_counts, out_places, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallv_c(const void* input, const Count* in_counts, const Aint* in_places,
                                  Datatype in_type, void* output, const Count* out_counts,
                                  const Aint* out_places, Datatype out_type, Comm comm) {
  return carry_out(process(),
                   AlltoallvCall{{{ListedSide(input, in_counts, in_places, in_type),
                                   ListedSide(output, out_counts, out_places, out_type), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallw(const void* input, const int* in_counts, const int* in_places,
                                const Datatype* in_types, void* output, const int* out_counts,
                                const int* out_places, const Datatype* out_types, Comm comm) {
  return carry_out(process(),
                   AlltoallwCall{{{ListedSide(input, in_counts, in_places, in_types),
                                   ListedSide(output, out_counts, out_places, out_types), comm}}});
}

HUDDLE_EXPORT int MPI_Alltoallw_c(const void* input, const Count* in_counts, const Aint* in_places,
                                  const Datatype* in_types, void* output, const Count* out_counts,
                                  const Aint* out_places, const Datatype* out_types, Comm comm) {
  return carry_out(process(),
                   AlltoallwCall{{{ListedSide(input, in_counts, in_places, in_types),
                                   ListedSide(output, out_counts, out_places, out_types), comm}}});
}
