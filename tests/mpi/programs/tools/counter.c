/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A profiling tool: defines MPI_X, counts the calls, and continues with PMPI_X. It is linked into
 * programs, linked between them and the MPI, or preloaded.
 */
#include <mpi.h>
#include <stdio.h>

static int barriers;
static int bcasts;
static int reductions;
static int gathers;

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++bcasts;
  return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Allreduce(const void* input, void* output, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++reductions;
  return PMPI_Allreduce(input, output, count, type, op, comm);
}

int MPI_Allgather(const void* input, int in_count, MPI_Datatype in_type, void* output,
                  int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  ++gathers;
  return PMPI_Allgather(input, in_count, in_type, output, out_count, out_type, comm);
}

int MPI_Finalize(void) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("the tool saw %d barriers, %d bcasts, %d reductions, %d gathers\n", barriers, bcasts,
           reductions, gathers);
    fflush(stdout);
  }
  return PMPI_Finalize();
}
