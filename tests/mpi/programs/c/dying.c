/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * dying MILLISECONDS RANK...: calls collectives of several kinds endlessly, until these ranks are
 * killed after that time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

static void* die(void* milliseconds) {
  const long long ns = 1000000LL * *(const int*)milliseconds;
  const struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  nanosleep(&pause, NULL);
  kill(getpid(), SIGKILL);
  return NULL;
}

int main(int argc, char** argv) {
  enum { most = 100000 };
  MPI_Init(&argc, &argv);
  double* const input = room_for(most * sizeof *input);
  double* const output = room_for(most * sizeof *output);
  const int ranks = size_of(MPI_COMM_WORLD);
  static int milliseconds;
  milliseconds = atoi(argv[1]);
  pthread_t hand;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int victim = 2; victim < argc; ++victim) {
    if (rank_in(MPI_COMM_WORLD) == atoi(argv[victim])) {
      pthread_create(&hand, NULL, die, &milliseconds);
    }
  }
  unsigned seed = 5;
  for (int i = 0;; ++i) {
    const int count = (int)(next_random(&seed) % most) >> next_random(&seed) % 17;
    const int root = i % ranks;
    MPI_Bcast(input, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    MPI_Allreduce(input, output, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Reduce(input, output, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 20 == 0) {
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
    }
  }
}
