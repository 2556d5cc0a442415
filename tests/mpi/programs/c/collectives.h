/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * All collectives in one form, for programs that make each of them: by the name that huddle takes
 * or by the one that goes straight to the MPI.
 */
#ifndef HUDDLE_TESTS_COLLECTIVES_H
#define HUDDLE_TESTS_COLLECTIVES_H

#include <mpi.h>

struct shape {
  MPI_Comm comm;
  int count; /* of ints, to or from each rank */
  int root;
  int in_place;
};

/* MPI's functions, or those of the same name with a P before it. */
struct mpi_functions;
extern const struct mpi_functions with_huddle;
extern const struct mpi_functions without_huddle;

struct collective {
  const char* name;
  int may_be_in_place;
  int has_padding; /* in its results, as (short, unused, int) */
  void (*call)(const struct mpi_functions* mpi, const struct shape* shape, void* input,
               void* output);
};
extern const struct collective collectives[];
extern const int collective_count;

#endif
