/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * device_threads LIBRARY: threads call collectives at once, each on its own communicator, at first
 * with host memory; meanwhile another thread loads the simulated driver, and from then on they
 * alternate between host and device memory, each rank at its own time.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tools/fake_cuda.h"
#include "expect.h"

enum { threads = 3, rounds = 150, ints = 60, bytes = ints * (int)sizeof(int), page = 4096 };

static MPI_Comm comms[threads];
static int* blocks[threads]; /* device memory; unset before has_blocks */
static atomic_int has_blocks;
static void (*write_block)(void* to, const void* from, size_t size);
static void (*read_block)(void* to, const void* from, size_t size);

static void* load_driver(void* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    expect(0, "%s", dlerror());
    exit(verdict());
  }
  ((int (*)(unsigned))dlsym(handle, "cuInit"))(0);
  write_block = (void (*)(void*, const void*, size_t))dlsym(handle, "fake_write");
  read_block = (void (*)(void*, const void*, size_t))dlsym(handle, "fake_read");
  void* (*block)(size_t, enum fake_kind) =
      (void* (*)(size_t, enum fake_kind))dlsym(handle, "fake_block");
  for (int i = 0; i < threads; ++i) blocks[i] = block(page, fake_device);
  atomic_store(&has_blocks, 1);
  return NULL;
}

static void collect(MPI_Comm comm, int thread, int round, int* device) {
  int given[ints];
  int gotten[ints];
  for (int i = 0; i < ints; ++i) given[i] = 100 * round + thread + i + rank_in(comm);
  if (device != NULL) write_block(device, given, bytes);
  int* const place = device != NULL ? device : gotten;
  MPI_Allreduce(device != NULL ? MPI_IN_PLACE : given, place, ints, MPI_INT, MPI_MAX, comm);
  if (device != NULL) read_block(gotten, device, bytes);
  for (int i = 0; i < ints; ++i) {
    expect(gotten[i] == 100 * round + thread + i + size_of(comm) - 1,
           "thread %d round %d: allreduce gives %d", thread, round, gotten[i]);
  }
  const int root = round % size_of(comm);
  MPI_Bcast(place, ints, MPI_INT, root, comm);
}

static void* work(void* number) {
  const int thread = (int)(intptr_t)number;
  unsigned seed = 20261123U + 31U * (unsigned)thread + (unsigned)rank_in(comms[thread]);
  int with_device = 0;
  for (int round = 0; round < rounds || with_device < rounds; ++round) {
    const int may = atomic_load(&has_blocks);
    int* device = may && next_random(&seed) % 2 == 0 ? blocks[thread] : NULL;
    collect(comms[thread], thread, round, device);
    /* Counts rounds in which all ranks have device memory. */
    int all_may = 0;
    MPI_Allreduce(&may, &all_may, 1, MPI_INT, MPI_MIN, comms[thread]);
    with_device += all_may;
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  expect(provided == MPI_THREAD_MULTIPLE, "this MPI has no MPI_THREAD_MULTIPLE");
  pthread_t running[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, work, (void*)(intptr_t)i);
  pthread_t loading;
  pthread_create(&loading, NULL, load_driver, argv[1]);
  pthread_join(loading, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return verdict();
}
