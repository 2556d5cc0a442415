// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts what collectives of BYTES bytes send and receive over the network interface of each host,
// by the counters of the kernel: hosts_traffic REPETITIONS BYTES OPERATION... The first rank of
// each host prints "traffic OPERATION HOST SENT RECEIVED", in bytes per call.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Reads the counters of eth0 in the network namespace of this process.
static void read_counters(double* received, double* sent) {
  FILE* const file = fopen("/proc/net/dev", "r");
  char line[512];
  *received = *sent = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, " eth0: %lf %*s %*s %*s %*s %*s %*s %*s %lf", received, sent) == 2) break;
  }
  if (file != NULL) fclose(file);
}

// `bytes` is the size of all ranks' data, or for an all-to-all, of the data that each rank sends.
static void call(const char* operation, double* in, double* out, int bytes, int ranks) {
  const int numbers = bytes / (int)sizeof(double);
  const int of_rank = numbers / ranks;
  const MPI_Comm world = MPI_COMM_WORLD;
  if (strcmp(operation, "bcast") == 0) MPI_Bcast(in, numbers, MPI_DOUBLE, 0, world);
  if (strcmp(operation, "allreduce") == 0) {
    MPI_Allreduce(in, out, numbers, MPI_DOUBLE, MPI_SUM, world);
  }
  if (strcmp(operation, "allgather") == 0) {
    MPI_Allgather(in, of_rank, MPI_DOUBLE, out, of_rank, MPI_DOUBLE, world);
  }
  if (strcmp(operation, "reduce_scatter_block") == 0) {
    MPI_Reduce_scatter_block(in, out, of_rank, MPI_DOUBLE, MPI_SUM, world);
  }
  if (strcmp(operation, "alltoall") == 0) {
    MPI_Alltoall(in, of_rank, MPI_DOUBLE, out, of_rank, MPI_DOUBLE, world);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int repetitions = argc > 1 ? atoi(argv[1]) : 0;
  const int bytes = argc > 2 ? atoi(argv[2]) : 0;
  if (repetitions < 1 || bytes < (int)sizeof(double) * ranks || argc < 4) {
    if (rank == 0) fprintf(stderr, "hosts_traffic REPETITIONS BYTES OPERATION...\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  int place = 0;
  MPI_Comm_rank(here, &place);
  MPI_Comm_free(&here);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  double* const in = calloc(1, (size_t)bytes);
  double* const out = calloc(1, (size_t)bytes);
  for (int word = 3; word < argc; ++word) {
    // The first call is a warm-up.
    call(argv[word], in, out, bytes, ranks);
    double before[2];
    double after[2];
    MPI_Barrier(MPI_COMM_WORLD);
    read_counters(&before[0], &before[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < repetitions; ++i) call(argv[word], in, out, bytes, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    read_counters(&after[0], &after[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (place == 0) {
      printf("traffic %s %s %.0f %.0f\n", argv[word], host, (after[1] - before[1]) / repetitions,
             (after[0] - before[0]) / repetitions);
    }
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
