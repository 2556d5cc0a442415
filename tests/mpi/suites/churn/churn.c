/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the huddle contributors
 *
 * Exercises the heap as long-lived programs do, and checks everything that it wrote: arrays of many
 * sizes around the minimum of huddle's heap are allocated, resized, aligned and freed in random
 * order by two threads, interrupted by signals, and passed to collectives.
 * churn SEED [STEPS]
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { slots = 48, least_bytes = 8 << 10, most_bytes = 3 << 20, signal_us = 1000 };

struct array {
  uint64_t* words;
  size_t count;
  uint64_t key;
};

static int rank, ranks;

static uint64_t next(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static void fail(const char* what, uint64_t found, uint64_t expected) {
  fprintf(stderr, "churn: rank %d: %s: %llx, not %llx\n", rank, what, (unsigned long long)found,
          (unsigned long long)expected);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Returns mostly small sizes: half of them are below the heap's minimum block, whatever its
 * setting. */
static size_t some_count(uint64_t* state) {
  const unsigned shift = next(state) % 8;
  const size_t span = (most_bytes - least_bytes) >> shift;
  return (least_bytes + next(state) % span) / sizeof(uint64_t);
}

static void fill(struct array* array, size_t from) {
  for (size_t i = from; i < array->count; ++i) array->words[i] = array->key + i;
}

static void check(const struct array* array, size_t count, const char* what) {
  for (size_t i = 0; i < count; ++i) {
    if (array->words[i] != array->key + i) fail(what, array->words[i], array->key + i);
  }
}

static void* must(void* block) {
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  return block;
}

static void make(struct array* array, uint64_t* state) {
  const size_t count = some_count(state);
  const size_t bytes = count * sizeof(uint64_t);
  array->count = count;
  array->key = next(state);
  switch (next(state) % 4) {
    case 0:
      array->words = must(malloc(bytes));
      break;
    case 1:
      array->words = must(calloc(count, sizeof(uint64_t)));
      for (size_t i = 0; i < count; ++i) {
        if (array->words[i] != 0) fail("calloc", array->words[i], 0);
      }
      break;
    case 2: {
      void* block = NULL;
      if (posix_memalign(&block, (size_t)64 << next(state) % 8, bytes) != 0) block = NULL;
      array->words = must(block);
      break;
    }
    default:
      array->words = must(memalign(4096, bytes));
  }
  fill(array, 0);
}

static void drop(struct array* array) {
  check(array, array->count, "a block before it is freed");
  free(array->words);
  array->words = NULL;
}

static void resize(struct array* array, uint64_t* state) {
  const size_t count = some_count(state);
  const size_t kept = count < array->count ? count : array->count;
  array->words = must(realloc(array->words, count * sizeof(uint64_t)));
  check(array, kept, "a block after realloc");
  array->count = count;
  fill(array, kept);
}

static void step(struct array arrays[slots], uint64_t* state) {
  struct array* array = &arrays[next(state) % slots];
  if (array->words == NULL) {
    make(array, state);
  } else if (next(state) % 3 == 0) {
    resize(array, state);
  } else {
    drop(array);
  }
}

static atomic_int is_over;

static void* allocate_beside(void* seed) {
  static struct array arrays[slots];
  uint64_t state = *(uint64_t*)seed;
  while (!atomic_load(&is_over)) step(arrays, &state);
  for (int i = 0; i < slots; ++i) {
    if (arrays[i].words != NULL) drop(&arrays[i]);
  }
  return NULL;
}

static uint64_t* numbers(size_t count) { return must(malloc(count * sizeof(uint64_t))); }

/* Makes the same call on all ranks, because `common` is equal. Each element identifies its sender.
 */
static void exchange(uint64_t* common) {
  const size_t count = some_count(common) / 4 + 1;
  const uint64_t key = next(common);
  const int root = (int)(next(common) % (uint64_t)ranks);
  const size_t all = count * (size_t)ranks;
  uint64_t* in = numbers(all);
  uint64_t* out = numbers(all);
  const int n = (int)count;
  const MPI_Datatype type = MPI_UINT64_T;
  for (size_t i = 0; i < all; ++i) in[i] = key + i * 1000 + (uint64_t)rank;
  memset(out, 0x5a, all * sizeof *out);
  switch (next(common) % 6) {
    case 0:
      MPI_Bcast(in, n, type, root, MPI_COMM_WORLD);
      for (size_t i = 0; i < count; ++i) {
        if (in[i] != key + i * 1000 + (uint64_t)root) fail("bcast", in[i], key + i * 1000);
      }
      break;
    case 1:
      MPI_Allreduce(in, out, n, type, MPI_SUM, MPI_COMM_WORLD);
      for (size_t i = 0; i < count; ++i) {
        const uint64_t sum =
            (key + i * 1000) * (uint64_t)ranks + (uint64_t)(ranks * (ranks - 1) / 2);
        if (out[i] != sum) fail("allreduce", out[i], sum);
      }
      break;
    case 2:
      MPI_Allgather(in, n, type, out, n, type, MPI_COMM_WORLD);
      for (size_t i = 0; i < all; ++i) {
        const uint64_t one = key + i % count * 1000 + i / count;
        if (out[i] != one) fail("allgather", out[i], one);
      }
      break;
    case 3:
      MPI_Alltoall(in, n, type, out, n, type, MPI_COMM_WORLD);
      for (size_t i = 0; i < all; ++i) {
        const uint64_t one = key + (i % count + (size_t)rank * count) * 1000 + i / count;
        if (out[i] != one) fail("alltoall", out[i], one);
      }
      break;
    case 4:
      MPI_Gather(in, n, type, out, n, type, root, MPI_COMM_WORLD);
      for (size_t i = 0; rank == root && i < all; ++i) {
        const uint64_t one = key + i % count * 1000 + i / count;
        if (out[i] != one) fail("gather", out[i], one);
      }
      break;
    default:
      MPI_Scatter(in, n, type, out, n, type, root, MPI_COMM_WORLD);
      for (size_t i = 0; i < count; ++i) {
        const uint64_t one = key + (i + (size_t)rank * count) * 1000 + (uint64_t)root;
        if (out[i] != one) fail("scatter", out[i], one);
      }
  }
  free(in);
  free(out);
}

static void ignore(int number) { (void)number; }

static void start_signals(void) {
  const struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, signal_us}, {0, signal_us}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char** argv) {
  static struct array arrays[slots];
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  uint64_t common = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 400;
  uint64_t own = common * 31 + (uint64_t)rank;
  uint64_t threads = own + 77;
  pthread_t beside;
  start_signals();
  pthread_create(&beside, NULL, allocate_beside, &threads);
  for (int i = 0; i < steps; ++i) {
    step(arrays, &own);
    if (i % 4 == 0) exchange(&common);
  }
  atomic_store(&is_over, 1);
  pthread_join(beside, NULL);
  for (int i = 0; i < slots; ++i) {
    if (arrays[i].words != NULL) drop(&arrays[i]);
  }
  MPI_Finalize();
  return 0;
}
