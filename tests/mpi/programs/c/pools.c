/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * pools ROUNDS THREADS: creates communicators of all ranks and of some of them in several ways,
 * uses them for a few calls of several sizes, and frees them: one at a time, many at once in
 * another order and, if THREADS is 1, by several threads at once, on whose communicators huddle
 * activates in a different order on each rank.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"

enum { at_once = 40, threads = 3, lives_of_thread = 25, most_words = 3000 };

static MPI_Comm made(MPI_Comm parent, unsigned how) {
  MPI_Comm comm;
  MPI_Group group;
  switch (how % 4) {
    case 0:
      MPI_Comm_dup(parent, &comm);
      break;
    case 1:
      MPI_Comm_split(parent, 0, rank_in(parent), &comm);
      break;
    case 2:
      /* The same ranks in reverse order. */
      MPI_Comm_split(parent, 0, -rank_in(parent), &comm);
      break;
    default:
      MPI_Comm_group(parent, &group);
      MPI_Comm_create(parent, group, &comm);
      MPI_Group_free(&group);
  }
  return comm;
}

/* Makes the same calls on all ranks of the communicator if the seeds are equal. */
static void use(MPI_Comm comm, unsigned seed, int calls) {
  static _Thread_local int words[most_words];
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int call = 0; call < calls; ++call) {
    const unsigned chance = next_random(&seed);
    const int root = (int)(chance / 7 % (unsigned)ranks);
    const int count = chance % 11 == 0 ? most_words : 1 + (int)(chance / 77 % 5);
    const int word = (int)(chance / 3 % 1000);
    for (int i = 0; i < count; ++i) words[i] = rank == root ? word + i : -1;
    if (chance % 3 == 0) MPI_Barrier(comm);
    MPI_Bcast(words, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) {
      expect(words[i] == word + i, "bcast of %d gives %d at %d, not %d", count, words[i], i,
             word + i);
    }
    int sum = -1;
    const int mine = word + rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == ranks * word + ranks * (ranks - 1) / 2, "allreduce gives %d", sum);
  }
}

static void in_turn(unsigned seed) {
  for (int life = 0; life < at_once; ++life) {
    MPI_Comm comm = made(MPI_COMM_WORLD, next_random(&seed));
    use(comm, seed, 1 + life % 15);
    MPI_Comm_free(&comm);
  }
}

static void many_at_once(unsigned seed) {
  MPI_Comm comms[at_once];
  for (int i = 0; i < at_once; ++i) comms[i] = made(MPI_COMM_WORLD, next_random(&seed));
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = turn; i < at_once; i += 1 + turn) use(comms[i], next_random(&seed), 5);
  }
  for (int i = 0; i < at_once; ++i) {
    const int other = (int)(next_random(&seed) % at_once);
    MPI_Comm kept = comms[i];
    comms[i] = comms[other];
    comms[other] = kept;
  }
  for (int i = 0; i < at_once; ++i) MPI_Comm_free(&comms[i]);
}

/* Some of the ranks have other communicators meanwhile. */
static void of_some(unsigned seed) {
  for (int life = 0; life < at_once; ++life) {
    const int color = rank_in(MPI_COMM_WORLD) % (1 + (int)(next_random(&seed) % 2));
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &some);
    use(some, seed + (unsigned)color, 1 + (life + 5 * color) % 12);
    MPI_Comm_free(&some);
  }
}

struct work {
  MPI_Comm parent;
  unsigned seed;
};

static void* live(void* of) {
  struct work* work = of;
  for (int life = 0; life < lives_of_thread; ++life) {
    MPI_Comm comm = made(work->parent, next_random(&work->seed));
    use(comm, work->seed, 1 + life % 12);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

static void by_threads(unsigned seed) {
  pthread_t running[threads];
  struct work work[threads];
  for (int i = 0; i < threads; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &work[i].parent);
    work[i].seed = next_random(&seed);
  }
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, live, &work[i]);
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&work[i].parent);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  give_up_after(240, "pools");
  unsigned seed = 7;
  for (int round = 0; round < atoi(argv[1]); ++round) {
    in_turn(next_random(&seed));
    many_at_once(next_random(&seed));
    of_some(next_random(&seed));
    if (atoi(argv[2]) != 0 && provided == MPI_THREAD_MULTIPLE) by_threads(next_random(&seed));
  }
  MPI_Finalize();
  return verdict();
}
