/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * The interface between the stub (the preloaded library) and a back end, which otherwise share only
 * the names of MPI functions.
 */
#ifndef HUDDLE_MPI_STUB_STUB_INTERFACE_H
#define HUDDLE_MPI_STUB_STUB_INTERFACE_H

#include <stddef.h>

/* A call that the back end does not define goes straight to the MPI, and the stub counts it
 * here. */
struct huddle_fallback {
  const char* name;    /* "MPI_Allgather" */
  unsigned long calls; /* see huddle_count_call() */
};

/* Threads count without synchronization, because a lost increment does not matter. Uses the
 * compiler's built-ins because C and C++ have no atomic type in common. */
static inline void huddle_count_call(struct huddle_fallback* fallbacks) {
  const unsigned long calls = __atomic_load_n(&fallbacks->calls, __ATOMIC_RELAXED);
  __atomic_store_n(&fallbacks->calls, calls + 1, __ATOMIC_RELAXED);
}
static inline unsigned long huddle_counted_calls(const struct huddle_fallback* fallbacks) {
  return __atomic_load_n(&fallbacks->calls, __ATOMIC_RELAXED);
}

struct huddle_stub_interface {
  /* Returns the MPI's own function or object of this name, or null if it has none. */
  void* (*real)(const char* name);
  const char* mpi_path; /* the file from which the MPI was loaded */
  const struct huddle_fallback* fallbacks;
  size_t call_count;
};

/* Each back end exports this function in addition to its MPI names. A nonzero result means that the
 * back end cannot work here; the program then runs without huddle. */
#define HUDDLE_BACK_END_INIT_NAME "huddle_back_end_init"
typedef int huddle_back_end_init_function(const struct huddle_stub_interface* stub);

/* For `huddle bench`. Describes the algorithm that the latest call on a communicator ran and the
 * alternatives. `communicator` points to a handle of the MPI's own type. Writes lines of "predicted
 * nanoseconds, algorithm, parameters" to `text`, beginning with the algorithm that ran. Returns
 * their length, or 0 if there is no information or not enough room. */
#define HUDDLE_CHOICES_NAME "huddle_choices"
typedef size_t huddle_choices_function(const void* communicator, int operation, size_t bytes,
                                       size_t element_bytes, char* text, size_t room);

#endif
