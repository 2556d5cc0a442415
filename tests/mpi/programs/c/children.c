/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program without children of its own: while it calls collectives, wait() must find none, and no
 * SIGCHLD may arrive.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "expect.h"

enum { calls = 3000 };
static atomic_int signals;
static atomic_int children;
static atomic_int has_ended;

static void count_signal(int signal) {
  (void)signal;
  atomic_fetch_add(&signals, 1);
}

/* Reaps every child that it finds, as a program does that starts helpers. */
static void* reap(void* nothing) {
  while (!atomic_load(&has_ended)) {
    int status = 0;
    if (waitpid(-1, &status, 0) > 0) atomic_fetch_add(&children, 1);
  }
  return nothing;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGCHLD, &action, NULL);
  pthread_t reaper;
  pthread_create(&reaper, NULL, reap, NULL);
  for (int i = 0; i < calls; ++i) {
    int sum = i;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == i * size_of(MPI_COMM_WORLD), "call %d gives %d", i, sum);
  }
  atomic_store(&has_ended, 1);
  pthread_join(reaper, NULL);
  expect(atomic_load(&children) == 0, "wait() finds %d children", atomic_load(&children));
  expect(atomic_load(&signals) == 0, "%d SIGCHLD arrive", atomic_load(&signals));
  MPI_Finalize();
  return verdict();
}
