/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Tests MPI_THREAD_MULTIPLE: threads call collectives at once, each on its own communicator, and in
 * between exchange messages and create and free communicators. In addition, a thread with a small
 * stack makes the calls that the MPI itself supports on such a stack.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "expect.h"

enum { threads = 4, rounds = 300, words = 500 };
static MPI_Comm comms[threads];

static void exchange(MPI_Comm comm, int thread, int round) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int mine = 10 * round + thread;
  int theirs = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, thread, &theirs, 1, MPI_INT,
               (rank + ranks - 1) % ranks, thread, comm, MPI_STATUS_IGNORE);
  expect(theirs == mine, "thread %d got the message %d, not %d", thread, theirs, mine);
}

static void collect(MPI_Comm comm, int thread, int round) {
  const int ranks = size_of(comm);
  long numbers[words];
  long sums[words];
  for (int i = 0; i < words; ++i) numbers[i] = thread * 1000 + round + i;
  MPI_Allreduce(numbers, sums, words, MPI_LONG, MPI_SUM, comm);
  for (int i = 0; i < words; ++i) {
    expect(sums[i] == ranks * numbers[i], "thread %d round %d: allreduce gives %ld", thread, round,
           sums[i]);
  }
  int word = rank_in(comm) == round % ranks ? round : -1;
  MPI_Bcast(&word, 1, MPI_INT, round % ranks, comm);
  expect(word == round, "thread %d: bcast gives %d, not %d", thread, word, round);
  MPI_Reduce(numbers, sums, words, MPI_LONG, MPI_MAX, round % ranks, comm);
  if (round % 10 == 0) MPI_Barrier(comm);
}

static void* work(void* number) {
  const int thread = (int)(intptr_t)number;
  MPI_Comm comm = comms[thread];
  for (int round = 0; round < rounds; ++round) {
    collect(comm, thread, round);
    if (round % 7 == 0) exchange(comm, thread, round);
    if (round % 50 != 0) continue;
    MPI_Comm of_this_round;
    MPI_Comm_dup(comm, &of_this_round);
    collect(of_this_round, thread, round);
    MPI_Comm_free(&of_this_round);
  }
  return NULL;
}

/* Few MPIs can reduce on so small a stack. */
enum { little_stack_bytes = 96 << 10 };

static void* broadcast(void* comm) {
  for (int round = 0; round < rounds; ++round) {
    int word = round;
    MPI_Bcast(&word, 1, MPI_INT, 0, *(MPI_Comm*)comm);
    MPI_Barrier(*(MPI_Comm*)comm);
  }
  return NULL;
}

static void broadcast_on_little_stack(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  pthread_attr_t little;
  pthread_attr_init(&little);
  pthread_attr_setstacksize(&little, little_stack_bytes);
  pthread_t running;
  expect(pthread_create(&running, &little, broadcast, &comm) == 0, "no thread with little stack");
  pthread_join(running, NULL);
  pthread_attr_destroy(&little);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    expect(0, "this MPI has no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return verdict();
  }
  pthread_t running[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  broadcast_on_little_stack();
  MPI_Finalize();
  return verdict();
}
