/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * device LIBRARY WHEN: makes calls with device memory, on one rank at a time and on all, as input,
 * as output and as both, on communicators that have used only host memory before. WHEN is the time
 * at which the simulated driver is loaded: before MPI_Init (before), after it (after), after ten
 * thousand calls (late), or after one call, by another thread (thread); with "never" all memory is
 * host memory. The results are compared with those of PMPI calls with host memory.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tools/fake_cuda.h"
#include "collectives.h"
#include "expect.h"

enum { most_ranks = 8, most_ints = 1 << 15, block_bytes = most_ints * (int)sizeof(int) };
enum { most_ahead = 5, late_calls = 10000, small = 11, large = 300 };

static const char* library;
static struct {
  int (*init)(unsigned flags);
  void* (*block)(size_t bytes, enum fake_kind kind);
  void (*write)(void* to, const void* from, size_t bytes);
  void (*read)(void* to, const void* from, size_t bytes);
  long (*questions)(void);
} driver;

static void* load_driver(void* nothing) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    expect(0, "%s", dlerror());
    exit(verdict());
  }
  driver.init = (int (*)(unsigned))dlsym(handle, "cuInit");
  driver.block = (void* (*)(size_t, enum fake_kind))dlsym(handle, "fake_block");
  driver.write = (void (*)(void*, const void*, size_t))dlsym(handle, "fake_write");
  driver.read = (void (*)(void*, const void*, size_t))dlsym(handle, "fake_read");
  driver.questions = (long (*)(void))dlsym(handle, "fake_questions");
  driver.init(0);
  return nothing;
}

/* A buffer of this rank and its contents, which the program accesses by copies if it is device
 * memory. */
struct buffer {
  int* host;
  int* place[3]; /* by kind; null without a driver */
};
static struct buffer input;
static struct buffer output;

static void make_room(struct buffer* buffer) {
  if (buffer->host == NULL) buffer->host = room_for(block_bytes);
  if (driver.block == NULL || buffer->place[0] != NULL) return;
  for (int kind = fake_device; kind <= fake_host; ++kind) {
    buffer->place[kind] = driver.block(block_bytes, (enum fake_kind)kind);
  }
}

static void set(const struct buffer* buffer, int* where, const int* ints) {
  if (where == buffer->host || where == buffer->place[fake_host]) {
    memcpy(where, ints, block_bytes);
  } else {
    driver.write(where, ints, block_bytes);
  }
}

static void get(const struct buffer* buffer, int* ints, const int* where) {
  if (where == buffer->host || where == buffer->place[fake_host]) {
    memcpy(ints, where, block_bytes);
  } else {
    driver.read(ints, where, block_bytes);
  }
}

static int* fresh_ints(unsigned* seed) {
  int* ints = room_for(block_bytes);
  for (int i = 0; i < most_ints; ++i) ints[i] = (int)(next_random(seed) % 1000);
  return ints;
}

/* Overwrites the padding of pairs of a short and an int, which need not be preserved. */
static void forget_padding(int* pairs) {
  for (int i = 0; i < most_ints; i += 2) pairs[i] = (short)pairs[i];
}

/* Makes one call with these buffers and one with host memory, and compares the results. Each rank
 * chooses its buffers. */
static void try_call(const struct collective* collective, const struct shape* shape, int* from,
                     int* to, unsigned seed) {
  unsigned own_seed = seed + 7919U * (unsigned)rank_in(shape->comm);
  int* given = fresh_ints(&own_seed);
  int* theirs = fresh_ints(&own_seed);
  int* ours = room_for(block_bytes);
  int* given_after = room_for(block_bytes);
  set(&input, from, given);
  set(&output, to, theirs);
  collective->call(&with_huddle, shape, from, to);
  collective->call(&without_huddle, shape, given, theirs);
  get(&output, ours, to);
  get(&input, given_after, from);
  if (collective->has_padding) {
    forget_padding(ours);
    forget_padding(theirs);
  }
  expect(memcmp(ours, theirs, block_bytes) == 0, "%s of %d, root %d, %s: another result on rank %d",
         collective->name, shape->count, shape->root, shape->in_place ? "in place" : "not in place",
         rank_in(shape->comm));
  expect(memcmp(given_after, given, block_bytes) == 0, "%s: the input is not what it was",
         collective->name);
  free(given);
  free(theirs);
  free(ours);
  free(given_after);
}

/* The root runs ahead of the other ranks. */
static void run_ahead(MPI_Comm comm, int root, int calls) {
  for (int i = 0; i < calls; ++i) {
    int word = rank_in(comm) == root ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, root, comm);
    expect(word == i, "a broadcast of host memory gives %d, not %d", word, i);
  }
}

/* `who` is the rank with device memory, or -1 for all ranks, each with its own choice. */
static void one_communicator(const struct collective* collective, int who, int count,
                             unsigned seed) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int rank = rank_in(comm);
  const int is_mine = who < 0 || rank == who;
  unsigned chance = seed;
  for (int round = 0; round < 4; ++round) {
    struct shape shape = {comm, count, (int)(next_random(&chance) % (unsigned)size_of(comm)),
                          collective->may_be_in_place && round % 2 == 1};
    run_ahead(comm, (int)(next_random(&chance) % (unsigned)size_of(comm)),
              (int)(next_random(&chance) % most_ahead));
    const int way = (int)(next_random(&chance) % 3) + (who < 0 ? rank : 0);
    const int kind = round < 3 ? fake_device : fake_managed;
    int* from = is_mine && way % 3 != 0 && driver.block ? input.place[kind] : input.host;
    int* to = is_mine && way % 3 != 1 && driver.block ? output.place[kind] : output.host;
    try_call(collective, &shape, from, to, seed + (unsigned)round);
    /* Host memory that devices may access is treated as other host memory. */
    if (driver.block) {
      try_call(collective, &shape, input.place[fake_host], output.host,
               seed + 100 + (unsigned)round);
    }
  }
  MPI_Comm_free(&comm);
}

static void make_calls(int calls) {
  for (int i = 0; i < calls; ++i) {
    int sum = 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == i * size_of(MPI_COMM_WORLD), "an allreduce of host memory gives %d", sum);
  }
}

static void load_when(const char* now, const char* wanted) {
  if (strcmp(now, wanted) != 0) return;
  if (strcmp(now, "thread") != 0) {
    load_driver(NULL);
    return;
  }
  pthread_t loading;
  pthread_create(&loading, NULL, load_driver, NULL);
  pthread_join(loading, NULL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  library = argv[1];
  load_when("before", argv[2]);
  MPI_Init(&argc, &argv);
  load_when("after", argv[2]);
  make_room(&input);
  make_room(&output);
  make_calls(strcmp(argv[2], "late") == 0 ? late_calls : 1);
  load_when("late", argv[2]);
  load_when("thread", argv[2]);
  make_room(&input);
  make_room(&output);
  unsigned seed = 20261123;
  for (int i = 0; i < collective_count; ++i) {
    for (int who = -1; who < size_of(MPI_COMM_WORLD); ++who) {
      one_communicator(&collectives[i], who, who == 0 ? large : small, next_random(&seed));
    }
  }
  make_calls(1);
  MPI_Finalize();
  return verdict();
}
