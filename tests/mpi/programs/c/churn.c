/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * churn TIMES CALLS [WORDS]: creates a communicator, uses it for CALLS calls of WORDS words, and
 * frees it, TIMES times; the process must not grow in memory, mappings or descriptors.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

struct held {
  long kilobytes;
  int descriptors;
  int mappings;
};

static int entries_of(const char* folder) {
  DIR* open = opendir(folder);
  int entries = 0;
  while (open != NULL && readdir(open) != NULL) ++entries;
  if (open != NULL) closedir(open);
  return entries;
}

static int lines_of(const char* path, const char* start, long* number) {
  FILE* file = fopen(path, "r");
  char line[512];
  int lines = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, start, strlen(start)) != 0) continue;
    ++lines;
    if (number != NULL) *number = atol(line + strlen(start));
  }
  if (file != NULL) fclose(file);
  return lines;
}

static struct held held_now(void) {
  struct held held = {0, entries_of("/proc/self/fd"), lines_of("/proc/self/maps", "", NULL)};
  lines_of("/proc/self/status", "VmRSS:", &held.kilobytes);
  return held;
}

enum { most_words = 1 << 18 };
static int numbers[most_words];
static int sums[most_words];

static void make_use_free(int time, int calls, int words) {
  MPI_Comm comm;
  if (time % 2 == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &comm);
  }
  for (int call = 0; call < calls; ++call) {
    numbers[0] = numbers[words - 1] = time;
    sums[0] = sums[words - 1] = -1;
    MPI_Allreduce(numbers, sums, words, MPI_INT, MPI_SUM, comm);
    expect(sums[0] == time * size_of(comm) && sums[words - 1] == sums[0],
           "communicator %d: allreduce gives %d", time, sums[0]);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int times = atoi(argv[1]);
  const int calls = atoi(argv[2]);
  const int words = argc > 3 ? atoi(argv[3]) : 1;
  const int warm_up = times / 5;
  for (int time = 0; time < warm_up; ++time) make_use_free(time, calls, words);
  const struct held before = held_now();
  const double start = seconds_now();
  for (int time = warm_up; time < times; ++time) make_use_free(time, calls, words);
  const double seconds = seconds_now() - start;
  const struct held after = held_now();
  if (rank_in(MPI_COMM_WORLD) == 0) {
    printf("%.1f us a communicator of %d calls; %+ld KB, %+d descriptors, %+d mappings\n",
           1e6 * seconds / (times - warm_up), calls, after.kilobytes - before.kilobytes,
           after.descriptors - before.descriptors, after.mappings - before.mappings);
  }
  expect(after.descriptors <= before.descriptors + 2, "%d communicators: %d descriptors became %d",
         times, before.descriptors, after.descriptors);
  expect(after.mappings <= before.mappings + 8, "%d communicators: %d mappings became %d", times,
         before.mappings, after.mappings);
  // If activation pays off late, the first team is created after the warm-up, and another
  // algorithm is set up for a later trial. These are no leaks: later communicators use the same.
  expect(after.kilobytes <= before.kilobytes + 2 * 8192 + times / 50,
         "%d communicators: %ld KB became %ld", times, before.kilobytes, after.kilobytes);
  MPI_Finalize();
  return verdict();
}
