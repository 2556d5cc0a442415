/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* The MPI calls that the profiling library intercepts, with the number of their arguments. Unlike
 * it, the library of `huddle run` intercepts no point-to-point or one-sided calls. */
#ifndef HUDDLE_PROFILE_STUB_CALLS_H
#define HUDDLE_PROFILE_STUB_CALLS_H

#include "mpi/stub/calls.h"

/* Calls that begin or end MPI, a phase or the lifetime of a handle. */
#define HUDDLE_PROFILE_LIFETIME_CALLS(CALL) \
  CALL(Init, 2)                             \
  CALL(Init_thread, 4)                      \
  CALL(Finalize, 0)                         \
  CALL(Comm_free, 1)                        \
  CALL(Comm_disconnect, 1)                  \
  CALL(Win_free, 1)                         \
  CALL(Request_free, 1)                     \
  CALL(Pcontrol, 1)

#define HUDDLE_PROFILE_SESSION_CALLS(CALL) \
  CALL(Session_init, 3)                    \
  CALL(Session_finalize, 1)

#define HUDDLE_PROFILE_SENDS(CALL) \
  CALL(Send, 6)                    \
  CALL(Bsend, 6)                   \
  CALL(Ssend, 6)                   \
  CALL(Rsend, 6)                   \
  CALL(Isend, 7)                   \
  CALL(Ibsend, 7)                  \
  CALL(Issend, 7)                  \
  CALL(Irsend, 7)                  \
  CALL(Send_init, 7)               \
  CALL(Bsend_init, 7)              \
  CALL(Ssend_init, 7)              \
  CALL(Rsend_init, 7)              \
  CALL(Start, 1)                   \
  CALL(Startall, 2)                \
  CALL(Sendrecv, 12)               \
  CALL(Sendrecv_replace, 9)

/* MPI 4: counts of type MPI_Count, partitioned sends and nonblocking send-receive. */
#define HUDDLE_PROFILE_NEW_SENDS(CALL) \
  CALL(Send_c, 6)                      \
  CALL(Bsend_c, 6)                     \
  CALL(Ssend_c, 6)                     \
  CALL(Rsend_c, 6)                     \
  CALL(Isend_c, 7)                     \
  CALL(Ibsend_c, 7)                    \
  CALL(Issend_c, 7)                    \
  CALL(Irsend_c, 7)                    \
  CALL(Send_init_c, 7)                 \
  CALL(Bsend_init_c, 7)                \
  CALL(Ssend_init_c, 7)                \
  CALL(Rsend_init_c, 7)                \
  CALL(Psend_init, 9)                  \
  CALL(Sendrecv_c, 12)                 \
  CALL(Sendrecv_replace_c, 9)          \
  CALL(Isendrecv, 12)                  \
  CALL(Isendrecv_c, 12)                \
  CALL(Isendrecv_replace, 9)           \
  CALL(Isendrecv_replace_c, 9)

#define HUDDLE_PROFILE_ONE_SIDED(CALL) \
  CALL(Put, 8)                         \
  CALL(Get, 8)                         \
  CALL(Accumulate, 9)                  \
  CALL(Get_accumulate, 12)             \
  CALL(Fetch_and_op, 7)                \
  CALL(Compare_and_swap, 7)            \
  CALL(Rput, 9)                        \
  CALL(Rget, 9)                        \
  CALL(Raccumulate, 10)                \
  CALL(Rget_accumulate, 13)

#define HUDDLE_PROFILE_NEW_ONE_SIDED(CALL) \
  CALL(Put_c, 8)                           \
  CALL(Get_c, 8)                           \
  CALL(Accumulate_c, 9)                    \
  CALL(Get_accumulate_c, 12)               \
  CALL(Rput_c, 9)                          \
  CALL(Rget_c, 9)                          \
  CALL(Raccumulate_c, 10)                  \
  CALL(Rget_accumulate_c, 13)

/* Collectives are only reported to the back end; the MPI executes them. */
#define HUDDLE_PROFILE_COLLECTIVES(CALL) \
  HUDDLE_BLOCKING_CALLS(CALL)            \
  HUDDLE_NONBLOCKING_CALLS(CALL)
#define HUDDLE_PROFILE_NEW_COLLECTIVES(CALL) \
  HUDDLE_LARGE_CALLS(CALL)                   \
  HUDDLE_PERSISTENT_CALLS(CALL)

#define HUDDLE_PROFILE_OLD_CALLS(CALL) \
  HUDDLE_PROFILE_LIFETIME_CALLS(CALL)  \
  HUDDLE_PROFILE_SENDS(CALL)           \
  HUDDLE_PROFILE_ONE_SIDED(CALL)
/* Calls that only implementations of MPI 4 and later provide. */
#define HUDDLE_PROFILE_NEW_CALLS(CALL) \
  HUDDLE_PROFILE_SESSION_CALLS(CALL)   \
  HUDDLE_PROFILE_NEW_SENDS(CALL)       \
  HUDDLE_PROFILE_NEW_ONE_SIDED(CALL)
/* Calls that the back end executes (TAKEN), calls that are reported to it (NOTED), and both. */
#define HUDDLE_PROFILE_TAKEN_CALLS(CALL) \
  HUDDLE_PROFILE_OLD_CALLS(CALL)         \
  HUDDLE_PROFILE_NEW_CALLS(CALL)
#define HUDDLE_PROFILE_NOTED_CALLS(CALL) \
  HUDDLE_PROFILE_COLLECTIVES(CALL)       \
  HUDDLE_PROFILE_NEW_COLLECTIVES(CALL)
#define HUDDLE_PROFILE_CALLS(CALL) \
  HUDDLE_PROFILE_TAKEN_CALLS(CALL) \
  HUDDLE_PROFILE_NOTED_CALLS(CALL)

#endif
