/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program for fake_mpi.c.
 */
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Barrier(long comm);
int MPI_Comm_rank(long comm, int* rank);

int main(int argc, char** argv) {
  int rank = -1;
  if (MPI_Init(&argc, &argv) != 0 || MPI_Comm_rank(1, &rank) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    if (MPI_Barrier(1) != 0) return 1;
  }
  if (MPI_Finalize() != 0 || rank != 0) return 1;
  printf("done\n");
  return 0;
}
