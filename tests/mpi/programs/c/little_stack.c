/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * little_stack BYTES OPERATION...: a thread with a stack of BYTES bytes is the first to call each
 * collective (barrier, bcast, allreduce or allgather). Uses two communicators of the same ranks, so
 * that the second one reuses the set-up of the first. Prints how much stack was used.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

enum { rounds = 3, words = 4, most_ranks = 64 };
static const unsigned char untouched = 0xA5;
static char** operations;
static MPI_Comm comms[2];

static void call(const char* operation, MPI_Comm comm, int round) {
  const int ranks = size_of(comm);
  long mine[words];
  long all[words * most_ranks];
  for (int i = 0; i < words; ++i) mine[i] = 10 * rank_in(comm) + round;
  if (strcmp(operation, "barrier") == 0) {
    MPI_Barrier(comm);
  } else if (strcmp(operation, "bcast") == 0) {
    MPI_Bcast(mine, words, MPI_LONG, 0, comm);
    expect(mine[words - 1] == round, "bcast gives %ld", mine[words - 1]);
  } else if (strcmp(operation, "allreduce") == 0) {
    MPI_Allreduce(mine, all, words, MPI_LONG, MPI_SUM, comm);
    expect(all[0] == 5L * ranks * (ranks - 1) + (long)ranks * round, "allreduce gives %ld", all[0]);
  } else if (strcmp(operation, "allgather") == 0) {
    MPI_Allgather(mine, words, MPI_LONG, all, words, MPI_LONG, comm);
    expect(all[(ranks - 1) * words] == 10L * (ranks - 1) + round, "allgather gives %ld",
           all[(ranks - 1) * words]);
  } else {
    expect(0, "no operation is called %s", operation);
  }
}

static void* work(void* nothing) {
  for (int comm = 0; comm < 2; ++comm) {
    for (char** operation = operations; *operation != NULL; ++operation) {
      for (int round = 0; round < rounds; ++round) call(*operation, comms[comm], round);
    }
  }
  return nothing;
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  operations = argv + 2;
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  unsigned char* const guard =
      mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(guard, page, PROT_NONE);
  unsigned char* const stack = guard + page;
  memset(stack, untouched, bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  if (pthread_attr_setstack(&attributes, stack, bytes) != 0 ||
      pthread_create(&thread, &attributes, work, NULL) != 0) {
    puts("no thread with so little stack");
  } else {
    pthread_join(thread, NULL);
    size_t unused = 0;
    while (unused < bytes && stack[unused] == untouched) ++unused;
    printf("stack used: %zu\n", bytes - unused);
  }
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return verdict();
}
