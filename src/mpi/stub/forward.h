/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Macros that define MPI functions. These forward their arguments unchanged, one word each:
 * integers, handles and pointers of any ABI use the same registers and stack slots under Linux.
 */
#ifndef HUDDLE_MPI_STUB_FORWARD_H
#define HUDDLE_MPI_STUB_FORWARD_H

typedef long word;

#define PARAMETERS_0 void
#define PARAMETERS_1 word a
#define PARAMETERS_2 PARAMETERS_1, word b
#define PARAMETERS_3 PARAMETERS_2, word c
#define PARAMETERS_4 PARAMETERS_3, word d
#define PARAMETERS_5 PARAMETERS_4, word e
#define PARAMETERS_6 PARAMETERS_5, word f
#define PARAMETERS_7 PARAMETERS_6, word g
#define PARAMETERS_8 PARAMETERS_7, word h
#define PARAMETERS_9 PARAMETERS_8, word i
#define PARAMETERS_10 PARAMETERS_9, word j
#define PARAMETERS_11 PARAMETERS_10, word k
#define PARAMETERS_12 PARAMETERS_11, word l
#define PARAMETERS_13 PARAMETERS_12, word m

#define ARGUMENTS_0
#define ARGUMENTS_1 a
#define ARGUMENTS_2 ARGUMENTS_1, b
#define ARGUMENTS_3 ARGUMENTS_2, c
#define ARGUMENTS_4 ARGUMENTS_3, d
#define ARGUMENTS_5 ARGUMENTS_4, e
#define ARGUMENTS_6 ARGUMENTS_5, f
#define ARGUMENTS_7 ARGUMENTS_6, g
#define ARGUMENTS_8 ARGUMENTS_7, h
#define ARGUMENTS_9 ARGUMENTS_8, i
#define ARGUMENTS_10 ARGUMENTS_9, j
#define ARGUMENTS_11 ARGUMENTS_10, k
#define ARGUMENTS_12 ARGUMENTS_11, l
#define ARGUMENTS_13 ARGUMENTS_12, m

#define HAND_ON(function, arguments) \
  ((word(*)(PARAMETERS_##arguments))(function))(ARGUMENTS_##arguments)

#define VISIBLE __attribute__((visibility("default")))

#define SLOW __attribute__((noinline, cold))
#define LOAD(pointer) __atomic_load_n(&(pointer), __ATOMIC_ACQUIRE)

/* Defines both names of a call. Requires: `routes` contains the calls' routes, and
 * with_tools(call_NAME) and beyond_tools(call_NAME) return the function to call if the route has
 * none yet. These are called by functions that are never inlined. Otherwise the compiler would save
 * and restore all arguments in each call: an MPI sends 8 bytes in about 50 ns, so that would be
 * measurable. */
#define HUDDLE_FORWARD(name, arguments)                                \
  VISIBLE word MPI_##name(PARAMETERS_##arguments);                     \
  VISIBLE word PMPI_##name(PARAMETERS_##arguments);                    \
  SLOW static word slow_MPI_##name(PARAMETERS_##arguments) {           \
    return HAND_ON(with_tools(call_##name), arguments);                \
  }                                                                    \
  SLOW static word slow_PMPI_##name(PARAMETERS_##arguments) {          \
    return HAND_ON(beyond_tools(call_##name), arguments);              \
  }                                                                    \
  word MPI_##name(PARAMETERS_##arguments) {                            \
    huddle_any_function* first = LOAD(routes[call_##name].first);      \
    if (first == NULL) return slow_MPI_##name(ARGUMENTS_##arguments);  \
    return HAND_ON(first, arguments);                                  \
  }                                                                    \
  word PMPI_##name(PARAMETERS_##arguments) {                           \
    huddle_any_function* taken = LOAD(routes[call_##name].taken);      \
    if (taken == NULL) return slow_PMPI_##name(ARGUMENTS_##arguments); \
    return HAND_ON(taken, arguments);                                  \
  }

#endif
