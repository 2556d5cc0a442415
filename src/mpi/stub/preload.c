/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * The preloaded library: it defines the names of MPI's collectives in front of the program's MPI.
 * The first of these calls finds that MPI and opens the back end for its ABI. A process that never
 * uses MPI loads no back end and loses no time.
 *
 * Both MPI_X and PMPI_X are defined because Fortran bindings call one or the other. A tool between
 * the program and the MPI still receives MPI_X first; its calls of PMPI_X come here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "forward.h"
#include "routes.h"

enum call {
#define HUDDLE_INDEX(name, arguments) call_##name,
  HUDDLE_CALLS(HUDDLE_INDEX)
#undef HUDDLE_INDEX
      call_count
};

static struct huddle_fallback fallbacks[call_count] = {
#define HUDDLE_NAME(name, arguments) {"MPI_" #name, 0},
    HUDDLE_CALLS(HUDDLE_NAME)
#undef HUDDLE_NAME
};

static struct huddle_route routes[call_count];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool routed;

/* Returns whether HUDDLE_STATS names a file. */
static int has_stats_file(void) {
  static const char suffix[] = ".json";
  const char* value = getenv("HUDDLE_STATS");
  const size_t length = value == NULL ? 0 : strlen(value);
  return length >= sizeof(suffix) - 1 && strcmp(value + length - (sizeof(suffix) - 1), suffix) == 0;
}

/* Returns whether the user requested a report at the end of the run. */
static int is_to_report(void) {
  return huddle_setting_equals("HUDDLE_STATS", "on", "1") || has_stats_file() ||
         huddle_setting_equals("HUDDLE_SUMMARY", "on", "1") ||
         huddle_setting_equals("HUDDLE_SUMMARY", "times", "times") ||
         huddle_setting_equals("HUDDLE_VERIFY", "on", "1");
}

/* Returns whether to open a back end. If huddle is off, the back end only counts calls, all of
 * which fall back to the MPI. */
static int is_wanted(void) {
  return !huddle_setting_equals("HUDDLE", "off", "0") || is_to_report();
}

static void route_all(void) {
  static const struct huddle_library library = {
      .fallbacks = fallbacks,
      .routes = routes,
      .call_count = call_count,
      .back_ends = {[huddle_abi_openmpi] = "libhuddle_openmpi.so",
                    [huddle_abi_mpich] = "libhuddle_mpich.so",
                    [huddle_abi_standard] = "libhuddle_mpi_abi.so"},
      .without = "the program runs without huddle",
      .is_wanted = is_wanted};
  huddle_route_all(&library);
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
  huddle_count_call(&fallbacks[call]);
  return huddle_insist(route->real, fallbacks[call].name);
}

static huddle_any_function* with_tools(enum call call) {
  const struct huddle_route* route = route_of(call);
  return route->tool != NULL ? route->tool : beyond_tools(call);
}

HUDDLE_CALLS(HUDDLE_FORWARD)

__attribute__((constructor)) static void hide_new_names(void) {
  if (!huddle_hides_new_names()) return;
  struct huddle_open_pages open = {0, 0};
#define HUDDLE_HIDE(name, arguments)                 \
  if (huddle_is_hidden("PMPI_" #name)) {             \
    huddle_hide(&open, (void (*)(void))MPI_##name);  \
    huddle_hide(&open, (void (*)(void))PMPI_##name); \
  }
  HUDDLE_NEW_CALLS(HUDDLE_HIDE)
#undef HUDDLE_HIDE
  huddle_end_hiding(&open);
}

/* If the program that `huddle run` started never calls MPI, a message about that replaces the
 * requested report. Launchers and shells that load this library do not print it. A duplicate of
 * standard error is kept for the message, because some programs close theirs before they end. */
static int kept_error = -1;

static int is_program_of_run(void) {
  const char* program = getenv("_HUDDLE_PROGRAM"); /* set by src/tools/launch/preload.h */
  if (program == NULL) return 0;
  char own[4096];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length < 0) return 0;
  own[length] = '\0';
  char* file = NULL;
  return strtol(program, &file, 10) == (long)getpid() && *file == ' ' && strcmp(file + 1, own) == 0;
}

__attribute__((constructor)) static void keep_error(void) {
  if (is_program_of_run() && is_to_report() && huddle_is_reporting_rank()) {
    kept_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  }
}

__attribute__((destructor)) static void say_that_mpi_was_not_called(void) {
  if (kept_error < 0 || !is_program_of_run()) return;
  if (atomic_load_explicit(&routed, memory_order_acquire)) return;
  dprintf(kept_error, "huddle: the program did not call MPI, so there is nothing to report\n");
}
