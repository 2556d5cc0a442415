/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Measures the time of a program's collectives under Open MPI, by name. This library is preloaded
 * in front of huddle and the MPI, reads the clock around each call and forwards it. For a
 * nonblocking collective it times the call that starts it, the calls that wait for its request, and
 * the interval between them.
 *
 * Rank 0 writes the file named by COLLECTIVE_TIME: the time from MPI_Init to MPI_Finalize, and a
 * line for each name with calls, seconds inside, and seconds between start and wait.
 *
 * Like huddle's stub it does not include mpi.h, and passes arguments as machine words. Requires:
 * only one thread calls MPI.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/mpi/stub/calls.h"

typedef long word;
typedef void* request; /* Open MPI's requests are pointers */
typedef void any_function(void);

enum call {
#define INDEX(name, arguments) call_##name,
  HUDDLE_CALLS(INDEX) call_count
};
static const char* const names[call_count] = {
#define NAME(name, arguments) "MPI_" #name,
    HUDDLE_CALLS(NAME)};

static struct {
  unsigned long calls;
  double inside;
  double between;
} sums[call_count];
static double begun;
static int depth; /* of nested calls: some MPIs implement a collective by another */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the next definition of the PMPI name, which huddle defines as well. */
static any_function* next_of(const char* name) {
  char profiling[64];
  snprintf(profiling, sizeof profiling, "P%s", name);
  void* const found = dlsym(RTLD_NEXT, profiling);
  if (found == NULL) fprintf(stderr, "collective_time: no %s below\n", profiling), abort();
  return (any_function*)(size_t)found;
}

/* Pending collectives, and all persistent ones. */
static struct {
  request request;
  enum call call;
  double started; /* 0: not started, or waited for already */
  int is_persistent;
} under_way[4096];
enum { most_under_way = sizeof under_way / sizeof *under_way };
static int count_under_way;

static int find(request request) {
  int at = count_under_way;
  while (--at >= 0 && under_way[at].request != request) continue;
  return at;
}

static void add(enum call call, request request, int is_persistent) {
  if (count_under_way == most_under_way) return;
  under_way[count_under_way].request = request;
  under_way[count_under_way].call = call;
  under_way[count_under_way].started = is_persistent ? 0 : now();
  under_way[count_under_way++].is_persistent = is_persistent;
}

static void note_wait(int at, double from, double seconds) {
  sums[under_way[at].call].inside += seconds;
  if (under_way[at].started > 0) sums[under_way[at].call].between += from - under_way[at].started;
  under_way[at].started = 0;
}

/* Calls `next`, which waits for or tests `count` requests, with five arguments from `words`.
 * Divides its time equally among the collectives in these requests. */
static word look_after(any_function* next, request* requests, word count, const word* words) {
  enum { most_at_once = 4096 };
  static request before[most_at_once];
  if (count > most_at_once) count = most_at_once;
  int found = 0;
  for (word i = 0; count_under_way > 0 && i < count; ++i)
    found += find(before[i] = requests[i]) >= 0;
  const double from = now();
  const word status = ((word(*)(word, word, word, word, word))next)(words[0], words[1], words[2],
                                                                    words[3], words[4]);
  const double seconds = now() - from;
  for (word i = 0; found > 0 && i < count; ++i) {
    const int at = find(before[i]);
    if (at < 0) continue;
    note_wait(at, from, seconds / found);
    if (requests[i] != before[i] && !under_way[at].is_persistent) {
      under_way[at] = under_way[--count_under_way];
    }
  }
  return status;
}

/* Passing more arguments than a function has is harmless. */
#define LOOKING_AFTER(name, requests, count)                                       \
  word MPI_##name(word a, word b, word c, word d, word e) {                        \
    static any_function* next;                                                     \
    if (next == NULL) next = next_of("MPI_" #name);                                \
    return look_after(next, (request*)(requests), count, (word[]){a, b, c, d, e}); \
  }                                                                                \
  word PMPI_##name(word a, word b, word c, word d, word e) { return MPI_##name(a, b, c, d, e); }
LOOKING_AFTER(Wait, a, 1)
LOOKING_AFTER(Test, a, 1)
LOOKING_AFTER(Waitall, b, (int)a)
LOOKING_AFTER(Waitany, b, (int)a)
LOOKING_AFTER(Waitsome, b, (int)a)
LOOKING_AFTER(Testall, b, (int)a)
LOOKING_AFTER(Testany, b, (int)a)
LOOKING_AFTER(Testsome, b, (int)a)

static void start_again(request* requests, word count) {
  for (word i = 0; i < count; ++i) {
    const int at = find(requests[i]);
    if (at < 0) continue;
    ++sums[under_way[at].call].calls;
    under_way[at].started = now();
  }
}
#define STARTING(name, requests, count)                    \
  word MPI_##name(word a, word b) {                        \
    static any_function* next;                             \
    if (next == NULL) next = next_of("MPI_" #name);        \
    const word status = ((word(*)(word, word))next)(a, b); \
    start_again((request*)(requests), count);              \
    return status;                                         \
  }                                                        \
  word PMPI_##name(word a, word b) { return MPI_##name(a, b); }
STARTING(Start, a, 1)
STARTING(Startall, b, (int)a)

static void write_all(void) {
  const char* file = getenv("COLLECTIVE_TIME");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (file == NULL || rank == NULL || strcmp(rank, "0") != 0) return;
  FILE* out = fopen(file, "w");
  if (out == NULL) return;
  fprintf(out, "run 1 %.9f 0\n", now() - begun);
  for (int call = 0; call < call_count; ++call) {
    if (sums[call].calls == 0) continue;
    fprintf(out, "%s %lu %.9f %.9f\n", names[call], sums[call].calls, sums[call].inside,
            sums[call].between);
  }
  fclose(out);
}

static int is_lifetime(enum call call) {
  return call == call_Init || call == call_Init_thread || call == call_Session_init;
}

/* Records a call that has returned. `last` is its last argument: the request, if it has one. */
static void note(enum call call, double from, word last) {
  if (is_lifetime(call)) {
    if (begun == 0) begun = now();
    return;
  }
  const int is_persistent = strstr(names[call], "_init") != NULL;
  const int is_nonblocking = names[call][4] == 'I';
  if (!is_persistent) ++sums[call].calls;
  sums[call].inside += now() - from;
  if (is_persistent || is_nonblocking) add(call, *(request*)last, is_persistent);
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
#define LAST_0 0
#define LAST_1 a
#define LAST_2 b
#define LAST_3 c
#define LAST_4 d
#define LAST_5 e
#define LAST_6 f
#define LAST_7 g
#define LAST_8 h
#define LAST_9 i
#define LAST_10 j
#define LAST_11 k

#define TIMED(name, arguments)                                                                   \
  word MPI_##name(PARAMETERS_##arguments) {                                                      \
    static any_function* next;                                                                   \
    if (next == NULL) next = next_of("MPI_" #name);                                              \
    if (call_##name == call_Finalize && depth == 0) write_all();                                 \
    const double from = now();                                                                   \
    ++depth;                                                                                     \
    const word status = ((word(*)(PARAMETERS_##arguments))next)(ARGUMENTS_##arguments);          \
    if (--depth == 0 && call_##name != call_Finalize) note(call_##name, from, LAST_##arguments); \
    return status;                                                                               \
  }                                                                                              \
  word PMPI_##name(PARAMETERS_##arguments) { return MPI_##name(ARGUMENTS_##arguments); }
HUDDLE_OLD_CALLS(TIMED)
HUDDLE_PERSISTENT_CALLS(TIMED)
