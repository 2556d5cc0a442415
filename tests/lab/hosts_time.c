// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times collectives of BYTES bytes in total, a barrier for 0: hosts_time REPETITIONS BYTES... Each
// rank times its own part, and the longest time counts, because hosts have no common clock. Rank 0
// prints "time OPERATION BYTES NS", the median, and "tenth OPERATION BYTES NS", the 10th
// percentile.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_repetitions = 1000 };

static int by_size(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

enum operation { bcast, allreduce, allgather, barrier, operations };
static const char* const names[operations] = {"bcast", "allreduce", "allgather", "barrier"};

static void call(enum operation operation, double* in, double* out, int bytes, int ranks) {
  const int numbers = bytes / (int)sizeof(double);
  switch (operation) {
    case bcast:
      MPI_Bcast(in, numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      break;
    case allreduce:
      MPI_Allreduce(in, out, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      break;
    case allgather:
      MPI_Allgather(in, numbers / ranks, MPI_DOUBLE, out, numbers / ranks, MPI_DOUBLE,
                    MPI_COMM_WORLD);
      break;
    case barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case operations:
      break;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int repetitions = argc > 1 ? atoi(argv[1]) : 0;
  if (repetitions < 1 || repetitions > most_repetitions || argc < 3) {
    if (rank == 0) fprintf(stderr, "hosts_time REPETITIONS BYTES...\n");
    MPI_Finalize();
    return 2;
  }
  for (int word = 2; word < argc; ++word) {
    const int bytes = atoi(argv[word]);
    double* in = calloc(1, (size_t)bytes);
    double* out = calloc(1, (size_t)bytes);
    for (int operation = 0; operation < operations; ++operation) {
      if ((operation == barrier) != (bytes == 0)) continue;
      double ns[most_repetitions];
      // The first two calls are a warm-up.
      for (int i = -2; i < repetitions; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        call((enum operation)operation, in, out, bytes, ranks);
        const double own = 1e9 * (MPI_Wtime() - start);
        double slowest = 0;
        MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i >= 0) ns[i] = slowest;
      }
      qsort(ns, (size_t)repetitions, sizeof(double), by_size);
      if (rank != 0) continue;
      printf("time %s %d %.0f\n", names[operation], bytes, ns[repetitions / 2]);
      printf("tenth %s %d %.0f\n", names[operation], bytes, ns[repetitions / 10]);
    }
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
