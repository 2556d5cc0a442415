/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A serial stand-in for an MPI, such as libmpiseq of MUMPS: one rank, a few functions, and none
 * whose name begins with PMPI.
 */
#include <stddef.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Barrier(int comm);
int MPI_Comm_rank(int comm, int* rank);

int MPI_Init(int* argc, char*** argv) { return argc == NULL || argv == NULL; }

int MPI_Finalize(void) { return 0; }

int MPI_Barrier(int comm) { return comm != 7; }

int MPI_Comm_rank(int comm, int* rank) {
  *rank = 0;
  return comm != 7;
}
