/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * many_communicators AT_ONCE IN_TURN [SECONDS]: uses many communicators at once, then many in
 * sequence, each with a few collectives, while a nonblocking collective and a window of the program
 * are active. Prints how many there were, because MPIs have a limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

static int calls_fail(MPI_Comm comm, int number) {
  const int ranks = size_of(comm);
  int sum = -1;
  const int mine = rank_in(comm) + number;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  int word = rank_in(comm) == number % ranks ? number : -1;
  MPI_Bcast(&word, 1, MPI_INT, number % ranks, comm);
  return sum != ranks * (ranks - 1) / 2 + ranks * number || word != number;
}

/* Returns whether all ranks of MPI_COMM_WORLD could create another communicator. */
static int all_have(int status) {
  int all = -1;
  const int mine = status == MPI_SUCCESS;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(argc > 3 ? (unsigned)atoi(argv[3]) : 600, "the program stands still\n");
  const int at_once = argc > 1 ? atoi(argv[1]) : 100;
  const int in_turn = argc > 2 ? atoi(argv[2]) : 100;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int* cell = NULL;
  MPI_Win window;
  MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
  *cell = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm* comms = room_for(sizeof(MPI_Comm) * (size_t)at_once);
  int made = 0;
  /* Every third communicator contains half of the ranks in reverse order. */
  for (; made < at_once; ++made) {
    const int status = made % 3 == 2 ? MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[made])
                                     : MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]);
    if (!all_have(status)) break;
  }
  for (int times = 0; times < 3; ++times) {
    MPI_Request request;
    int pending = rank;
    int most = -1;
    MPI_Iallreduce(&pending, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    int wrong = 0;
    for (int i = 0; i < made; ++i) wrong += calls_fail(comms[i], i);
    MPI_Win_unlock(0, window);
    expect(wrong == 0, "%d of %d communicators at once are wrong", wrong, made);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(most == size_of(MPI_COMM_WORLD) - 1, "the nonblocking collective gives %d", most);
  }
  for (int i = 0; i < made; ++i) MPI_Comm_free(&comms[i]);
  int done = 0;
  int wrong = 0;
  for (; done < in_turn; ++done) {
    MPI_Comm one;
    if (!all_have(MPI_Comm_dup(MPI_COMM_WORLD, &one))) break;
    for (int times = 0; times < 2; ++times) wrong += calls_fail(one, done);
    MPI_Comm_free(&one);
  }
  expect(wrong == 0, "%d calls of %d communicators in turn are wrong", wrong, done);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Win_sync(window);
  expect(rank != 0 || *cell == 3 * size_of(MPI_COMM_WORLD), "the window holds %d", *cell);
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
  if (rank == 0) printf("communicators: %d at once, %d in turn\n", made, done);
  free(comms);
  MPI_Finalize();
  return verdict();
}
