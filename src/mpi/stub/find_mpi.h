/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * The MPI that this process uses: wherever it was loaded, and of whatever family it is.
 */
#ifndef HUDDLE_MPI_STUB_FIND_MPI_H
#define HUDDLE_MPI_STUB_FIND_MPI_H

enum huddle_abi {
  huddle_abi_unknown,
  huddle_abi_openmpi,
  huddle_abi_mpich,
  huddle_abi_standard,
  huddle_abi_count,
};

struct huddle_mpi {
  void* handle;     /* null: there is none */
  const char* path; /* never freed: it is needed as long as the process lives */
  enum huddle_abi abi;
};

struct huddle_mpi huddle_find_mpi(void);

/* The function or object of this MPI; null where it has none. Never one of huddle's own. */
void* huddle_find_in_mpi(const struct huddle_mpi* mpi, const char* name);

/* A profiling tool's own MPI_X that lies between the program and the MPI; null where there is none.
 * `name` is "MPI_X". */
void* huddle_find_tool(const struct huddle_mpi* mpi, const char* name);

#endif
