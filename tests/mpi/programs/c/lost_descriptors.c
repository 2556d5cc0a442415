/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * The program closes descriptors that it did not open, and reuses their numbers for its own files.
 * It closes only those that detect dead processes, because no MPI survives the loss of its sockets.
 * Then each rank in turn is late for a barrier, so that the others check whether it is alive.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static const double late_seconds = 0.5; /* waiting ranks check each other every 0.1 s */

static int is_watch(int number) {
  char path[64];
  char file[256];
  snprintf(path, sizeof path, "/proc/self/fd/%d", number);
  const ssize_t bytes = readlink(path, file, sizeof file - 1);
  if (bytes < 0) return 0;
  file[bytes] = '\0';
  /* Without pidfds, this file of the process is opened. */
  int end = 0;
  return strstr(file, "pidfd") != NULL ||
         (sscanf(file, "/proc/%*d/stat%n", &end) == 0 && end > 0 && file[end] == '\0');
}

/* Closes these descriptors, and reuses their numbers for `file` unless it is -1. Returns how many
 * it closed. */
static int take_watches(int file) {
  int found = 0;
  for (int number = 3; number < 1024; ++number) {
    if (!is_watch(number)) continue;
    ++found;
    close(number);
    if (file >= 0) dup2(file, number);
  }
  return found;
}

static void come_late_in_turn(void) {
  for (int late = 0; late < size_of(MPI_COMM_WORLD); ++late) {
    const double end = seconds_now() + late_seconds;
    while (rank_in(MPI_COMM_WORLD) == late && seconds_now() < end) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int is_watched = argc > 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const int closed = take_watches(-1);
  expect(!is_watched || closed > 0, "nothing is watched");
  come_late_in_turn();
  const int readable = open("/dev/null", O_RDONLY);
  const int taken = take_watches(readable);
  expect(!is_watched || taken > 0, "nothing is watched any more");
  come_late_in_turn();
  MPI_Finalize();
  return verdict();
}
