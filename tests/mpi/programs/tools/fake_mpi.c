/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A library that looks like an MPI of an unknown family: one rank, and only a few functions. With
 * CONSTANTS, it exports the constants of its ABI, as MPItrampoline does.
 */
#include <stddef.h>

#ifdef CONSTANTS
extern const long MPI_COMM_WORLD;
extern int* const MPI_UNWEIGHTED;
const long MPI_COMM_WORLD = 0;
int* const MPI_UNWEIGHTED = NULL;
#endif

int PMPI_Init(int* argc, char*** argv);
int PMPI_Finalize(void);
int PMPI_Barrier(long comm);
int PMPI_Comm_rank(long comm, int* rank);

int PMPI_Init(int* argc, char*** argv) { return argc == NULL || argv == NULL; }

int PMPI_Finalize(void) { return 0; }

int PMPI_Barrier(long comm) { return comm != 1; }

int PMPI_Comm_rank(long comm, int* rank) {
  *rank = 0;
  return comm != 1;
}

int MPI_Init(int* argc, char*** argv) __attribute__((weak, alias("PMPI_Init")));
int MPI_Finalize(void) __attribute__((weak, alias("PMPI_Finalize")));
int MPI_Barrier(long comm) __attribute__((weak, alias("PMPI_Barrier")));
int MPI_Comm_rank(long comm, int* rank) __attribute__((weak, alias("PMPI_Comm_rank")));
