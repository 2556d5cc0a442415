/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* A small MPI program: sums one number per rank, and prints whether the result is right. */
#include <mpi.h>
#include <stdio.h>

enum { times = 100 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int time = 0; time < times; ++time) {
    int sum, mine = rank + time;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks * time + ranks * (ranks - 1) / 2;
  }
  if (rank == 0) printf("%d ranks, %d sums wrong\n", ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
