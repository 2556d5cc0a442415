/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* memory COMMUNICATORS BYTES: measures the memory of a rank after it has called collectives of
 * BYTES bytes on COMMUNICATORS communicators. Rank 0 prints the mean over the ranks in KiB (PSS:
 * shared pages count proportionally). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 50 };

static long held_kib(void) {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "Pss: %ld", &kib);
  if (file != NULL) fclose(file);
  return kib;
}

static void use(MPI_Comm comm, char* from, char* to, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Barrier(comm);
    MPI_Bcast(from, bytes, MPI_BYTE, 0, comm);
    MPI_Allreduce(from, to, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int communicators = atoi(argv[1]);
  const int bytes = atoi(argv[2]);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* from = calloc(1, (size_t)bytes);
  char* to = calloc((size_t)ranks, (size_t)bytes);
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, from, to, bytes);
  }
  long mine = held_kib(), all = 0;
  PMPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld\n", all / ranks);
  free(from);
  free(to);
  return MPI_Finalize();
}
