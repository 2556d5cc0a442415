/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * The preloaded library: the names of MPI's collectives, in front of whatever MPI the program uses.
 * At the first of these calls it finds that MPI and opens the back end for its ABI; a process that
 * never uses MPI loads nothing and loses no time.
 *
 * Both MPI_X and PMPI_X are defined: Fortran's layers call one or the other. A tool between the
 * program and the MPI is called as before, by MPI_X; when it goes on with PMPI_X, it comes to us.
 *
 * Arguments are handed on as they came, a word each: integers, handles and pointers of any ABI
 * travel in the same registers and stack slots on the machines that Linux runs MPI on.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "door.h"
#include "find_mpi.h"
#include "hide.h"

typedef long word;
/* Some function of MPI's; whoever calls it says what its arguments are. */
typedef void any_function(void);

enum call {
#define HUDDLE_INDEX(name, arguments) call_##name,
  HUDDLE_CALLS(HUDDLE_INDEX)
#undef HUDDLE_INDEX
      call_count
};

static struct huddle_passed passed[call_count] = {
#define HUDDLE_NAME(name, arguments) {"MPI_" #name, 0},
    HUDDLE_CALLS(HUDDLE_NAME)
#undef HUDDLE_NAME
};

/* Where a call goes: set once, all before any is used. */
struct route {
  any_function* taken; /* by the back end; null: it goes to `real`, and is counted */
  any_function* real;
  any_function* tool;
};
static struct route routes[call_count];
static struct huddle_mpi mpi;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool routed;

static void* real(const char* name) { return huddle_find_in_mpi(&mpi, name); }

/* Of the ranks of a job only one speaks. Launchers say who is who. */
static int may_speak(void) {
  static const char* const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; ++i) {
    const char* rank = getenv(ranks[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return 1;
}

static void say(const char* what, const char* more) {
  if (may_speak()) fprintf(stderr, "huddle: %s%s; the program runs without huddle\n", what, more);
}

static const char* back_end_name(enum huddle_abi abi) {
  switch (abi) {
    case huddle_abi_openmpi:
      return "libhuddle_openmpi.so";
    case huddle_abi_mpich:
      return "libhuddle_mpich.so";
    case huddle_abi_standard:
      return "libhuddle_mpi_abi.so";
    case huddle_abi_unknown:
      return NULL;
  }
  return NULL;
}

/* Back ends lie beside this library. */
static void* open_back_end(const char* name) {
  Dl_info self;
  if (dladdr((void*)&once, &self) == 0) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname) + 1;
  char path[4096];
  const int length = snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, name);
  if (length < 0 || (size_t)length >= sizeof path) return NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int says(const char* variable, const char* in_words, const char* in_numbers) {
  const char* value = getenv(variable);
  return value != NULL && (strcmp(value, in_words) == 0 || strcmp(value, in_numbers) == 0);
}

/* Whether somebody wants a word about this run when it ends. */
static int is_to_report(void) {
  return says("HUDDLE_STATS", "on", "1") || says("HUDDLE_SUMMARY", "on", "1") ||
         says("HUDDLE_SUMMARY", "times", "times");
}

static void* entered_back_end(void) {
  /* The back end would count, and leave all to the MPI. */
  if (says("HUDDLE", "off", "0") && !is_to_report()) return NULL;
  const char* name = back_end_name(mpi.abi);
  if (name == NULL) {
    say("this MPI is of no family that huddle knows: ", mpi.path);
    return NULL;
  }
  void* back_end = open_back_end(name);
  if (back_end == NULL) {
    say("cannot open its part for this MPI: ", dlerror());
    return NULL;
  }
  huddle_enter_function* enter = (huddle_enter_function*)(size_t)dlsym(back_end, HUDDLE_ENTER_NAME);
  static struct huddle_door door;
  door = (struct huddle_door){real, mpi.path, passed, call_count};
  return enter != NULL && enter(&door) == 0 ? back_end : NULL;
}

static any_function* as_function(void* symbol) { return (any_function*)(size_t)symbol; }

static void route_call(enum call call, void* back_end, int with_tools) {
  const char* name = passed[call].name;
  char profiling_name[64] = "P";
  strncat(profiling_name, name, sizeof profiling_name - 2);
  routes[call].real = as_function(real(profiling_name));
  if (back_end != NULL) routes[call].taken = as_function(dlsym(back_end, name));
  if (with_tools) routes[call].tool = as_function(huddle_find_tool(&mpi, name));
}

static void route_all(void) {
  mpi = huddle_find_mpi();
  if (mpi.handle == NULL) {
    fprintf(stderr, "huddle: MPI was called, but no MPI is loaded in this process\n");
    abort();
  }
  void* back_end = entered_back_end();
  /* In the search order there can be tools; of a private MPI nobody comes before it. */
  const int with_tools = dlsym(RTLD_NEXT, "PMPI_Comm_rank") != NULL;
  for (int call = 0; call < call_count; ++call) route_call((enum call)call, back_end, with_tools);
  atomic_store_explicit(&routed, 1, memory_order_release);
}

static const struct route* route_of(enum call call) {
  if (!atomic_load_explicit(&routed, memory_order_acquire)) pthread_once(&once, route_all);
  return &routes[call];
}

/* A new call that this MPI does not have is asked for only by programs that look for its name
 * first, where the name could not be hidden from them in time. */
static any_function* insist(any_function* function, enum call call) {
  if (function != NULL) return function;
  fprintf(stderr,
          "huddle: this MPI has no %s; run the program without huddle (HUDDLE=off does not help)\n",
          passed[call].name);
  abort();
}

static any_function* beyond_tools(enum call call) {
  const struct route* route = route_of(call);
  if (route->taken != NULL) return route->taken;
  huddle_count_call(&passed[call]);
  return insist(route->real, call);
}

static any_function* with_tools(enum call call) {
  const struct route* route = route_of(call);
  return route->tool != NULL ? route->tool : beyond_tools(call);
}

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

#define HAND_ON(function, arguments) \
  ((word(*)(PARAMETERS_##arguments))(function))(ARGUMENTS_##arguments)

#define VISIBLE __attribute__((visibility("default")))
#define HUDDLE_FORWARD(name, arguments)                                                           \
  VISIBLE word MPI_##name(PARAMETERS_##arguments);                                                \
  VISIBLE word PMPI_##name(PARAMETERS_##arguments);                                               \
  word MPI_##name(PARAMETERS_##arguments) { return HAND_ON(with_tools(call_##name), arguments); } \
  word PMPI_##name(PARAMETERS_##arguments) { return HAND_ON(beyond_tools(call_##name), arguments); }
HUDDLE_CALLS(HUDDLE_FORWARD)

/* Of MPI 4 the Open MPIs of today have nothing or little, and programs that load their MPI late may
 * look for names. What MPI it will be is not known yet, but who launched this process is: Open
 * MPI's own launcher, or one that speaks PMIx only, as Open MPI wants it. */
static int is_probably_open_mpi(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") != NULL ||
         (getenv("PMIX_RANK") != NULL && getenv("PMI_RANK") == NULL);
}

/* Where the program is linked with its MPI, that one says itself what it has. */
static int is_to_be_hidden(const char* profiling_name) {
  return dlsym(RTLD_NEXT, "PMPI_Comm_rank") == NULL || dlsym(RTLD_NEXT, profiling_name) == NULL;
}

__attribute__((constructor)) static void hide_new_names(void) {
  if (!is_probably_open_mpi()) return;
#define HUDDLE_HIDE(name, arguments)          \
  if (is_to_be_hidden("PMPI_" #name)) {       \
    huddle_hide((void (*)(void))MPI_##name);  \
    huddle_hide((void (*)(void))PMPI_##name); \
  }
  HUDDLE_NEW_CALLS(HUDDLE_HIDE)
#undef HUDDLE_HIDE
}

/* Where `huddle run` has become a program that never calls MPI, that is the answer to who asks what
 * was taken. A launcher, or a shell, is not that program. Standard error is kept for it, since some
 * programs close theirs when they end. */
static int kept_error = -1;

static int is_program_of_run(void) {
  const char* program = getenv("_HUDDLE_PROGRAM"); /* as src/launch/preload.h names it */
  if (program == NULL) return 0;
  char own[4096];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length < 0) return 0;
  own[length] = '\0';
  char* file = NULL;
  return strtol(program, &file, 10) == (long)getpid() && *file == ' ' && strcmp(file + 1, own) == 0;
}

__attribute__((constructor)) static void keep_error(void) {
  if (is_program_of_run() && is_to_report() && may_speak()) {
    kept_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  }
}

__attribute__((destructor)) static void say_that_mpi_was_not_called(void) {
  if (kept_error < 0 || !is_program_of_run()) return;
  if (atomic_load_explicit(&routed, memory_order_acquire)) return;
  dprintf(kept_error, "huddle: this program called no MPI, so nothing was taken\n");
}
