/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * each OPERATION...: calls each of these operations once with a few numbers. The driver checks the
 * outcome.
 */
#include <stdio.h>
#include <string.h>

#include "expect.h"

enum { most_ranks = 16, count = 6, all = count * most_ranks };
static double input[all];
static double output[all];

static void move(const char* name, MPI_Comm comm) {
  int counts[most_ranks];
  int places[most_ranks];
  int bytes[most_ranks];
  MPI_Datatype types[most_ranks];
  for (int i = 0; i < most_ranks; ++i) {
    counts[i] = count;
    places[i] = i * count;
    bytes[i] = (int)sizeof(double) * places[i];
    types[i] = MPI_DOUBLE;
  }
  const MPI_Datatype type = MPI_DOUBLE;
  if (strcmp(name, "bcast") == 0) MPI_Bcast(input, count, type, 0, comm);
  if (strcmp(name, "allgather") == 0) {
    MPI_Allgather(input, count, type, output, count, type, comm);
  }
  if (strcmp(name, "allgatherv") == 0) {
    MPI_Allgatherv(input, count, type, output, counts, places, type, comm);
  }
  if (strcmp(name, "alltoall") == 0) MPI_Alltoall(input, count, type, output, count, type, comm);
  if (strcmp(name, "alltoallv") == 0) {
    MPI_Alltoallv(input, counts, places, type, output, counts, places, type, comm);
  }
  if (strcmp(name, "alltoallw") == 0) {
    MPI_Alltoallw(input, counts, bytes, types, output, counts, bytes, types, comm);
  }
  if (strcmp(name, "gather") == 0) MPI_Gather(input, count, type, output, count, type, 0, comm);
  if (strcmp(name, "gatherv") == 0) {
    MPI_Gatherv(input, count, type, output, counts, places, type, 0, comm);
  }
  if (strcmp(name, "scatter") == 0) MPI_Scatter(input, count, type, output, count, type, 0, comm);
  if (strcmp(name, "scatterv") == 0) {
    MPI_Scatterv(input, counts, places, type, output, count, type, 0, comm);
  }
}

static void reduce(const char* name, MPI_Comm comm) {
  int counts[most_ranks];
  for (int i = 0; i < most_ranks; ++i) counts[i] = count;
  const MPI_Datatype type = MPI_DOUBLE;
  if (strcmp(name, "reduce") == 0) MPI_Reduce(input, output, count, type, MPI_SUM, 0, comm);
  if (strcmp(name, "allreduce") == 0) MPI_Allreduce(input, output, count, type, MPI_SUM, comm);
  if (strcmp(name, "reduce_scatter") == 0) {
    MPI_Reduce_scatter(input, output, counts, type, MPI_SUM, comm);
  }
  if (strcmp(name, "reduce_scatter_block") == 0) {
    MPI_Reduce_scatter_block(input, output, count, type, MPI_MAX, comm);
  }
  if (strcmp(name, "scan") == 0) MPI_Scan(input, output, count, type, MPI_SUM, comm);
  if (strcmp(name, "exscan") == 0) MPI_Exscan(input, output, count, type, MPI_PROD, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < all; ++i) input[i] = 1.0 + i + rank_in(MPI_COMM_WORLD);
  for (int i = 1; i < argc; ++i) {
    move(argv[i], MPI_COMM_WORLD);
    reduce(argv[i], MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return verdict();
}
