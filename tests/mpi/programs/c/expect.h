/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Checks of the test programs: the first failure is printed, and the exit status reports it.
 */
#ifndef HUDDLE_TESTS_EXPECT_H
#define HUDDLE_TESTS_EXPECT_H

#include <mpi.h>
#include <stddef.h>

/* Prints the message if `holds` is false; only the first time. */
__attribute__((format(printf, 2, 3))) void expect(int holds, const char* format, ...);

/* Returns the exit status for main: 0 if all checks succeeded on this rank. */
int verdict(void);

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/* Returns zeroed memory that is never freed, large enough to be in the shared heap, if there is
 * one. Requires: MPI is initialized. */
void* room_for(size_t bytes);

/* Reads a clock that does not depend on MPI. */
double seconds_now(void);

/* Ends the whole job with a message if it has not ended by then. */
void give_up_after(unsigned seconds, const char* what);

/* Returns a pseudo-random sequence that depends only on `seed`. */
unsigned next_random(unsigned* seed);

#endif
