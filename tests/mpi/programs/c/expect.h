/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * What the test programs say when something is not as MPI has it: one line for the first, and an
 * exit status.
 */
#ifndef HUDDLE_TESTS_EXPECT_H
#define HUDDLE_TESTS_EXPECT_H

#include <mpi.h>
#include <stddef.h>

/* Where it does not hold, says so; only the first time. */
__attribute__((format(printf, 2, 3))) void expect(int holds, const char* format, ...);

/* What main returns: 0 where everything held on this rank. */
int verdict(void);

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/* Zeros, for a program that MPI has come up for: large enough for the shared heap, where there is
 * one. It stays. */
void* room_for(size_t bytes);

/* Of a clock that stands on no MPI. */
double seconds_now(void);

/* Ends the whole job with a word when it has not ended by itself by then. */
void give_up_after(unsigned seconds, const char* what);

/* A stream of numbers that depends on nothing but `seed`. */
unsigned next_random(unsigned* seed);

#endif
