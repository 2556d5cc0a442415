/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * What the stub hands to a back end, the only thing that the two know of each other besides the
 * names of MPI.
 */
#ifndef HUDDLE_MPI_STUB_DOOR_H
#define HUDDLE_MPI_STUB_DOOR_H

#include <stddef.h>

/* A call that the back end does not define goes straight to the MPI, and is counted here. */
struct huddle_passed {
  const char* name;    /* "MPI_Allgather" */
  unsigned long calls; /* see huddle_count_call() */
};

/* Threads count without waiting for each other: a call that is lost does not matter. C and C++ have
 * no atomic type in common. */
static inline void huddle_count_call(struct huddle_passed* passed) {
  const unsigned long calls = __atomic_load_n(&passed->calls, __ATOMIC_RELAXED);
  __atomic_store_n(&passed->calls, calls + 1, __ATOMIC_RELAXED);
}
static inline unsigned long huddle_counted_calls(const struct huddle_passed* passed) {
  return __atomic_load_n(&passed->calls, __ATOMIC_RELAXED);
}

struct huddle_door {
  /* The MPI's own function or object of this name; null where it has none. */
  void* (*real)(const char* name);
  const char* mpi_path; /* the file that the MPI was loaded from */
  const struct huddle_passed* passed;
  size_t route_count;
};

/* Each back end exports this one beside its MPI names. Non-zero: it cannot work here, and the
 * program goes on without huddle. */
#define HUDDLE_ENTER_NAME "huddle_enter"
typedef int huddle_enter_function(const struct huddle_door* door);

/* For huddle bench: what the latest call on a communicator of the MPI's own type ran, and what else
 * such a call could have run. Lines of "predicted nanoseconds, algorithm, parameters", the one that
 * ran first, into `text`; returns their length, 0 where there is nothing to say or no room. */
#define HUDDLE_CHOICES_NAME "huddle_choices"
typedef size_t huddle_choices_function(const void* communicator, int operation, size_t bytes,
                                       size_t element_bytes, char* text, size_t room);

#endif
