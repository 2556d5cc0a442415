/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * tuned CALLS [RANK]: makes CALLS calls of each collective with a small and a large size, on ranks
 * that arrive at different times, and compares the results with those of PMPI calls. With RANK,
 * that rank then calls another collective than the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "expect.h"

enum { most_ints = 1 << 15, bytes = most_ints * (int)sizeof(int), small = 3, large = 2000 };

static void fill(int* ints, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) ints[i] = (int)(next_random(&seed) % 1000);
}

/* Overwrites the padding of pairs of a short and an int, which need not be preserved. */
static void forget_padding(int* pairs, int count) {
  for (int i = 0; i < count; i += 2) pairs[i] = (short)pairs[i];
}

static void arrive_late(unsigned* seed) {
  const double end = seconds_now() + (double)(next_random(seed) % 20) * 1e-6;
  while (seconds_now() < end) {
  }
}

static void call_often(const struct collective* collective, int count, int calls) {
  int* input = room_for(bytes);
  int* ours = room_for(bytes);
  int* theirs = room_for(bytes);
  const int rank = rank_in(MPI_COMM_WORLD);
  unsigned own = 17U * (unsigned)rank;
  /* More than the call may access: blocks of all ranks, each with gaps as large as itself. */
  const int used = 2 * count * size_of(MPI_COMM_WORLD) + 64;
  expect(used <= most_ints, "the buffers are too small for %d ranks", size_of(MPI_COMM_WORLD));
  for (int i = 0; i < calls; ++i) {
    const unsigned seed = (unsigned)(i * 100 + rank);
    const int root = i % size_of(MPI_COMM_WORLD);
    /* Debian's MPICH crashes in a large reduction in place to another root, even without huddle. */
    const int in_place = collective->may_be_in_place && root == 0 && i % 5 == 1;
    const struct shape shape = {MPI_COMM_WORLD, count, root, in_place};
    fill(input, used, seed);
    fill(ours, used, seed + 50);
    fill(theirs, used, seed + 50);
    arrive_late(&own);
    collective->call(&with_huddle, &shape, input, ours);
    fill(input, used, seed);
    collective->call(&without_huddle, &shape, input, theirs);
    if (collective->has_padding) {
      forget_padding(ours, used);
      forget_padding(theirs, used);
    }
    expect(memcmp(ours, theirs, bytes) == 0,
           "call %d of %s of %d, root %d: another result on rank %d", i, collective->name, count,
           root, rank);
  }
  free(input);
  free(ours);
  free(theirs);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 40;
  for (int i = 0; i < collective_count; ++i) {
    call_often(&collectives[i], small, calls);
    call_often(&collectives[i], large, calls);
  }
  for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) {
    int word = 0;
    int words[64];
    if (rank_in(MPI_COMM_WORLD) == atoi(argv[2])) {
      MPI_Allgather(&word, 1, MPI_INT, words, 1, MPI_INT, MPI_COMM_WORLD);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return verdict();
}
