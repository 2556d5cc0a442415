/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Checks of the test programs: the first failure is printed, and the exit status reports it.
 */
#ifndef HUDDLE_TESTS_EXPECT_H
#define HUDDLE_TESTS_EXPECT_H

#include <mpi.h>
#include <stddef.h>

/* Prints the message if `holds` is false, but only the first time in a process. */
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

/* Ends this process, and thereby the job, with a message if it has not ended after that time. 0
 * cancels this. */
void give_up_after(unsigned seconds, const char* what);

/* Returns the next number of a pseudo-random sequence, whose state is `seed`. */
unsigned next_random(unsigned* seed);

#endif
