/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * windows ROUNDS: MPI_Win_test after a barrier must report the end of an exposure epoch whose
 * access epochs ended before the barrier: of one rank that accessed all, and of all that accessed
 * one.
 */
#include <stdlib.h>

#include "expect.h"

enum { most_ranks = 16 };
static MPI_Win window;
static int exposed[most_ranks]; /* by rank: the value that it put */

/* Runs an access epoch. The second barrier comes after its end. */
static void have_access(MPI_Group to, const int* targets, int count, int round) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Win_start(to, 0, window);
  for (int i = 0; i < count; ++i) MPI_Put(&round, 1, MPI_INT, targets[i], rank, 1, MPI_INT, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_complete(window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void expose(MPI_Group to, int last, int round, const char* what) {
  int has_ended = 0;
  MPI_Win_post(to, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_test(window, &has_ended);
  expect(has_ended, "%s: round %d has not ended", what, round);
  if (!has_ended) MPI_Win_wait(window);
  expect(exposed[last] == round, "%s: %d was put in round %d", what, exposed[last], round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < most_ranks; ++i) exposed[i] = -1;
  const int rounds = atoi(argv[argc - 1]);
  const int ranks = size_of(MPI_COMM_WORLD);
  int others[most_ranks];
  for (int i = 1; i < ranks; ++i) others[i - 1] = i;
  const int first = 0;
  MPI_Group all, one, rest;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &first, &one);
  MPI_Group_excl(all, 1, &first, &rest);
  MPI_Win_create(exposed, sizeof exposed, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int round = 0; round < rounds; ++round) {
    if (rank_in(MPI_COMM_WORLD) == 0) {
      have_access(rest, others, ranks - 1, round);
      expose(rest, ranks - 1, round, "all to one");
    } else {
      expose(one, 0, round, "one to all");
      have_access(one, &first, 1, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  MPI_Group_free(&rest);
  MPI_Group_free(&one);
  MPI_Group_free(&all);
  MPI_Finalize();
  return verdict();
}
