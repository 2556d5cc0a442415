/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * late RANK MICROSECONDS: two ranks make collective calls, and RANK computes that long before each
 * of them. Prints how long each rank waited for the other, by the program's own clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

enum { rounds = 200, calls = 2 * rounds, elements = 1024, ranks = 2 };

struct interval {
  double enter;
  double leave;
};

static struct interval own[calls];
static struct interval all[ranks][calls];

static void compute(double seconds) {
  const double begin = seconds_now();
  while (seconds_now() - begin < seconds) continue;
}

static double later(double one, double other) { return one > other ? one : other; }

/* In an allreduce each rank needs the other; in a broadcast the receiver needs the root, but the
 * root may leave before the receiver enters. */
static double waited(int rank) {
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    const struct interval mine = all[rank][i];
    const double other = all[1 - rank][i].enter;
    if (mine.leave >= other) sum += later(0, other - mine.enter);
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int late = atoi(argv[1]);
  const double seconds = atof(argv[2]) * 1e-6;
  const int rank = rank_in(MPI_COMM_WORLD);
  static double data[elements];
  double sum = 0;
  MPI_Comm same = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  expect(argc == 3 && seconds > 0 && size_of(MPI_COMM_WORLD) == ranks, "wrong arguments");
  for (int i = 0; i < rounds; ++i) {
    if (rank == late) compute(seconds);
    own[2 * i].enter = seconds_now();
    MPI_Allreduce(data, &sum, 1, MPI_DOUBLE, MPI_SUM, i % 2 == 0 ? MPI_COMM_WORLD : same);
    own[2 * i].leave = seconds_now();
    if (rank == late) compute(seconds);
    own[2 * i + 1].enter = seconds_now();
    MPI_Bcast(data, elements, MPI_DOUBLE, late, same);
    own[2 * i + 1].leave = seconds_now();
    MPI_Barrier(MPI_COMM_SELF);
  }
  /* The name of the profiling interface keeps this call out of the statistics. */
  PMPI_Allgather(own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, MPI_COMM_WORLD);
  if (rank == 0) printf("waited %.9f s and %.9f s\n", waited(0), waited(1));
  MPI_Comm_free(&same);
  MPI_Finalize();
  return verdict();
}
