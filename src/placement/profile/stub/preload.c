/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* The library that `huddle profile` preloads. It exports the MPI calls that are profiled, and
 * forwards them to the MPI that the program uses. It is built from the same parts as the library of
 * `huddle run`. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/stub/forward.h"
#include "mpi/stub/routes.h"
#include "note.h"
#include "profiled_calls.h"

enum call {
#define HUDDLE_INDEX(name, arguments) call_##name,
  HUDDLE_PROFILE_CALLS(HUDDLE_INDEX)
#undef HUDDLE_INDEX
      call_count
};

static struct huddle_fallback fallbacks[call_count] = {
#define HUDDLE_NAME(name, arguments) {"MPI_" #name, 0},
    HUDDLE_PROFILE_CALLS(HUDDLE_NAME)
#undef HUDDLE_NAME
};

static struct huddle_route routes[call_count];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool routed;
static huddle_note_function* note_to_back_end; /* null if there is no back end */

/* Checks the environment variable that src/tools/launch/preload.h defines. */
static int is_wanted(void) { return getenv("_HUDDLE_PROFILE") != NULL; }

static void route_all(void) {
  static const struct huddle_library library = {
      .fallbacks = fallbacks,
      .routes = routes,
      .call_count = call_count,
      .back_ends = {[huddle_abi_openmpi] = "libhuddle_profile_openmpi.so",
                    [huddle_abi_mpich] = "libhuddle_profile_mpich.so",
                    [huddle_abi_standard] = "libhuddle_profile_mpi_abi.so"},
      .without = "the program runs without being profiled",
      .is_wanted = is_wanted};
  void* back_end = huddle_route_all(&library);
  if (back_end != NULL) {
    note_to_back_end = (huddle_note_function*)(size_t)dlsym(back_end, HUDDLE_NOTE_NAME);
  }
  atomic_store_explicit(&routed, 1, memory_order_release);
}

static const struct huddle_route* route_of(enum call call) {
  if (!atomic_load_explicit(&routed, memory_order_acquire)) pthread_once(&once, route_all);
  return &routes[call];
}

/* These are called for the first call of a process, and for calls that the back end does not
 * export. */
static huddle_any_function* beyond_tools(enum call call) {
  const struct huddle_route* route = route_of(call);
  if (route->taken != NULL) return route->taken;
  return huddle_insist(route->real, fallbacks[call].name);
}

static huddle_any_function* with_tools(enum call call) {
  const struct huddle_route* route = route_of(call);
  return route->tool != NULL ? route->tool : beyond_tools(call);
}

HUDDLE_PROFILE_TAKEN_CALLS(HUDDLE_FORWARD)

/* A call that failed moves no data. All MPIs use 0 for MPI_SUCCESS. */
static word noted(word status, enum call call, const word* words, int count) {
  if ((int)status == 0 && note_to_back_end != NULL) {
    note_to_back_end(fallbacks[call].name, words, count);
  }
  return status;
}

#define HUDDLE_NOTE(name, arguments)                                                            \
  VISIBLE word MPI_##name(PARAMETERS_##arguments);                                              \
  VISIBLE word PMPI_##name(PARAMETERS_##arguments);                                             \
  word PMPI_##name(PARAMETERS_##arguments) {                                                    \
    const word words[] = {ARGUMENTS_##arguments};                                               \
    return noted(HAND_ON(beyond_tools(call_##name), arguments), call_##name, words, arguments); \
  }                                                                                             \
  word MPI_##name(PARAMETERS_##arguments) {                                                     \
    const struct huddle_route* route = route_of(call_##name);                                   \
    if (route->tool != NULL) return HAND_ON(route->tool, arguments);                            \
    return PMPI_##name(ARGUMENTS_##arguments);                                                  \
  }
HUDDLE_PROFILE_NOTED_CALLS(HUDDLE_NOTE)

__attribute__((constructor)) static void hide_new_names(void) {
  if (!huddle_hides_new_names()) return;
  struct huddle_open_pages open = {0, 0};
#define HUDDLE_HIDE(name, arguments)                 \
  if (huddle_is_hidden("PMPI_" #name)) {             \
    huddle_hide(&open, (void (*)(void))MPI_##name);  \
    huddle_hide(&open, (void (*)(void))PMPI_##name); \
  }
  HUDDLE_PROFILE_NEW_CALLS(HUDDLE_HIDE)
  HUDDLE_PROFILE_NEW_COLLECTIVES(HUDDLE_HIDE)
#undef HUDDLE_HIDE
  huddle_end_hiding(&open);
}
