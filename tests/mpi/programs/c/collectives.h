/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * All collectives with one signature, for programs that call each of them, as MPI_X or as PMPI_X.
 */
#ifndef HUDDLE_TESTS_COLLECTIVES_H
#define HUDDLE_TESTS_COLLECTIVES_H

#include <mpi.h>

struct shape {
  MPI_Comm comm;
  int count; /* ints to or from each rank */
  int root;
  int in_place;
};

/* The MPI_X functions, or the PMPI_X functions. */
struct mpi_functions {
  int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
  int (*reduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
  int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*scan)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*exscan)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*reduce_scatter)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*reduce_scatter_block)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*allgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                    MPI_Comm);
  int (*alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  int (*alltoallv)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                   MPI_Datatype, MPI_Comm);
  int (*alltoallw)(const void*, const int*, const int*, const MPI_Datatype*, void*, const int*,
                   const int*, const MPI_Datatype*, MPI_Comm);
  int (*gather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
  int (*gatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, int,
                 MPI_Comm);
  int (*scatter)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
  int (*scatterv)(const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype, int,
                  MPI_Comm);
};
extern const struct mpi_functions with_huddle;
extern const struct mpi_functions without_huddle;

struct collective {
  const char* name;
  int may_be_in_place;
  int has_padding; /* padding in its results, as in (short, unused, int) */
  void (*call)(const struct mpi_functions* mpi, const struct shape* shape, void* input,
               void* output);
};
extern const struct collective collectives[];
extern const int collective_count;

#endif
