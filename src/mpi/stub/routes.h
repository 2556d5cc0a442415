/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#pragma once

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

/*
 * Takes a name of this library out of sight again. A program may ask by a weak symbol whether its
 * MPI has a function (mpi4py does), and the preloaded library must not answer for the MPI.
 */
#ifndef HUDDLE_MPI_STUB_HIDE_H
#define HUDDLE_MPI_STUB_HIDE_H

/* From here on nobody who is loaded finds this function of ours by its name. Where the system does
 * not allow it the name stays. */
void huddle_hide(void (*function)(void));

#endif

/*
 * Where the calls of a preloaded library go: to its back end for the MPI that the program uses, to
 * a tool in between, or to the MPI. Whatever the library takes, it is found out in one way.
 */
#ifndef HUDDLE_MPI_STUB_ROUTES_H
#define HUDDLE_MPI_STUB_ROUTES_H

#include <stddef.h>

#include "door.h"
#include "routes.h"

/* Some function of MPI's; whoever calls it says what its arguments are. */
typedef void huddle_any_function(void);

/* Where a call goes: set once, all before any is used. */
struct huddle_route {
  huddle_any_function* taken; /* by the back end; null: it goes to `real`, and is counted */
  huddle_any_function* real;
  huddle_any_function* tool;
  huddle_any_function* first; /* the tool, else `taken`: one look for those that are in a hurry */
};

struct huddle_library {
  struct huddle_passed* passed; /* the names of its calls */
  struct huddle_route* routes;  /* as many */
  size_t call_count;
  /* Files beside the library, in the order of enum huddle_abi. */
  const char* back_ends[huddle_abi_count];
  const char* without; /* "the program runs without huddle": what follows where there is none */
  int (*is_wanted)(void);
};

/* Of the ranks of a job only one speaks. Launchers say who is who. */
int huddle_may_speak(void);

/* The environment says so, in one of two ways. */
int huddle_says(const char* variable, const char* in_words, const char* in_numbers);

/* Finds the MPI, opens the back end, and fills in the routes: once in a process. Returns the back
 * end, null where there is none. */
void* huddle_route_all(const struct huddle_library* library);

/* A new call that this MPI does not have is asked for only by programs that look for its name
 * first, where the name could not be hidden from them in time. */
huddle_any_function* huddle_insist(huddle_any_function* function, const char* name);

/* Of MPI 4 the Open MPIs of today have nothing or little, and programs that load their MPI late may
 * look for names. What MPI it will be is not known yet, but who launched this process is: Open
 * MPI's own launcher, or one that speaks PMIx only, as Open MPI wants it. */
int huddle_is_probably_open_mpi(void);

/* Where the program is linked with its MPI, that one says itself what it has. */
int huddle_is_to_be_hidden(const char* profiling_name);

#endif
