/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* Declares how a preloaded library finds the MPI, hides symbols, and routes calls. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stub_interface.h"

/*
 * Finds the MPI of this process, regardless of how it was loaded and which family it belongs to.
 */
enum huddle_abi {
  huddle_abi_unknown,
  huddle_abi_openmpi,
  huddle_abi_mpich,
  huddle_abi_standard,
  huddle_abi_count,
};

struct huddle_mpi {
  void* handle;     /* null: not found */
  const char* path; /* never freed, because it is needed until the process ends */
  enum huddle_abi abi;
};

struct huddle_mpi huddle_find_mpi(void);

/* Returns the MPI's own function or object of this name, or null. Never returns one of huddle. */
void* huddle_find_in_mpi(const struct huddle_mpi* mpi, const char* name);

/* Returns a function of a library that stands in for an MPI, or null. Such a library, for example a
 * serial one, defines some MPI_X but no PMPI_X.
 * Requires: huddle_find_mpi() found no MPI. */
void* huddle_find_in_stand_in(const char* name);

/* Returns the MPI_X of a profiling tool between the program and the MPI, or null if there is none.
 * `name` is "MPI_X". */
void* huddle_find_tool(const struct huddle_mpi* mpi, const char* name);

/*
 * Hides symbols of this library. A program may use a weak symbol to test whether its MPI has a
 * function (mpi4py does), and must not find huddle's function if the MPI has none.
 */
/* The pages of the symbol table that huddle_hide() has made writable. Changing the protection for
 * every symbol would take longer than everything else in the start of a rank. */
struct huddle_open_pages {
  uintptr_t first;
  uintptr_t end; /* 0: none */
};

/* After this call, libraries that are loaded later cannot find this function by name. The symbol
 * stays visible if the system does not permit the change. */
void huddle_hide(struct huddle_open_pages* open, void (*function)(void));
/* Makes the symbol table read-only again. */
void huddle_end_hiding(const struct huddle_open_pages* open);

/*
 * Routes a preloaded library's calls to its back end, to a tool in between, or to the MPI.
 */
/* An MPI function of any type; its caller casts it to the right one. */
typedef void huddle_any_function(void);

/* The targets of a call. All routes are set once, before the first is used. */
struct huddle_route {
  huddle_any_function* taken; /* the back end; null: calls `real` and counts */
  huddle_any_function* real;
  huddle_any_function* tool;  /* or the function of a library that stands in for an MPI */
  huddle_any_function* first; /* the tool, else `taken`; saves a load per call */
};

struct huddle_library {
  struct huddle_fallback* fallbacks; /* names and counters of the calls */
  struct huddle_route* routes;       /* one per call */
  size_t call_count;
  /* File names beside the library, indexed by enum huddle_abi. */
  const char* back_ends[huddle_abi_count];
  const char* without; /* end of error messages, such as "the program runs without huddle" */
  int (*is_wanted)(void);
};

/* Returns whether this process prints messages: rank 0 according to the launcher's variables, or a
 * process without a launcher. */
int huddle_is_reporting_rank(void);

/* Returns whether the environment variable has one of two equivalent values. */
int huddle_setting_equals(const char* variable, const char* in_words, const char* in_numbers);

/* Finds the MPI, opens the back end, and sets the routes. Call once per process. Returns the back
 * end, or null if there is none. */
void* huddle_route_all(const struct huddle_library* library);

/* Returns `function`, or aborts if it is null. It is null if the MPI, or the library that stands in
 * for it, lacks the function. A program calls such a function only if it tests for the name and
 * huddle could not hide the name in time. */
huddle_any_function* huddle_insist(huddle_any_function* function, const char* name);

/* Returns whether to hide the names of MPI 4's functions that the program's MPI lacks: programs may
 * test for them. Returns 0 if the program loads its MPI late, and that is probably MPICH or one of
 * its relatives, which have had these functions for long: its launcher has set PMI's variables.
 * Without a launcher there is only one rank, and nothing is lost by hiding them. */
int huddle_hides_new_names(void);

/* Returns whether to hide a name. If the program is linked with its MPI, hides only the names that
 * this MPI lacks. */
int huddle_is_hidden(const char* profiling_name);
