/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Forks under a shared heap between collectives on its buffers: with pages that were excluded from
 * children and restored by madvise(), as a network library does, and on a thread whose stack is
 * from malloc.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

enum { count = 1 << 17, stack_bytes = 1 << 20 };
static double* room;

static void use_room(void) {
  double* const sums = malloc(count * sizeof *sums);
  for (int i = 0; i < count; ++i) room[i] = i % 1000;
  MPI_Allreduce(room, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += sums[i] != (double)(i % 1000) * size_of(MPI_COMM_WORLD);
  expect(wrong == 0, "allreduce: %d are wrong", wrong);
  free(sums);
}

/* Writes of a child must not be visible to the parent. */
static void* fork_and_write(void* nothing) {
  room[0] = room[count - 1] = -5;
  const pid_t child = fork();
  if (child == 0) {
    const int has_all = room[0] == -5 && room[count - 1] == -5;
    for (int i = 0; i < count; ++i) room[i] = -7;
    _exit(has_all ? 0 : 1);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  expect(status == 0, "a child ended with %d", status);
  expect(room[0] == -5 && room[count - 1] == -5, "a child has written to its parent's memory");
  return nothing;
}

static void fork_on_stack_from_malloc(void) {
  void* const stack = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), stack_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, stack_bytes);
  pthread_t thread;
  expect(pthread_create(&thread, &attributes, fork_and_write, NULL) == 0, "no thread");
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  free(stack);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  room = aligned_alloc(page, count * sizeof *room);
  use_room();
  madvise(room, count * sizeof *room, MADV_DONTFORK);
  madvise(room, count * sizeof *room, MADV_DOFORK);
  fork_and_write(NULL);
  use_room();
  fork_on_stack_from_malloc();
  use_room();
  fork_and_write(NULL);
  use_room();
  free(room);
  MPI_Finalize();
  return verdict();
}
