/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "expect.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_int failures;
static const char* given_up = "";

void expect(int holds, const char* format, ...) {
  if (holds || atomic_fetch_add(&failures, 1) > 0) return;
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  printf("NOT AS MPI HAS IT: %s\n", sentence);
  fflush(stdout);
}

int verdict(void) { return atomic_load(&failures) > 0; }

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

void* room_for(size_t bytes) {
  const size_t least = (size_t)64 << 10;
  void* room = calloc(1, bytes < least ? least : bytes);
  if (room == NULL) abort();
  return room;
}

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void give_up(int signal_number) {
  (void)signal_number;
  /* Calls only functions that are safe in a signal handler. The driver fails if the message is
   * lost. */
  ssize_t written = write(STDOUT_FILENO, given_up, strlen(given_up));
  _exit(written < 0 ? 4 : 3);
}

void give_up_after(unsigned seconds, const char* what) {
  given_up = what;
  signal(SIGALRM, give_up);
  alarm(seconds);
}

unsigned next_random(unsigned* seed) {
  *seed = *seed * 1664525U + 1013904223U;
  return *seed >> 8;
}
