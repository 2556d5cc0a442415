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
struct mpi_functions;
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
