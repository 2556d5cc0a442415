/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program whose calls a tool can count: 20 of each kind. The optional argument is the thread
 * level, from 0 (MPI_THREAD_SINGLE) to 3.
 */
#include <stdlib.h>

#include "expect.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    const int wanted = levels[atoi(argv[1])];
    int provided = -1;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    expect(provided >= wanted, "threads of level %d, not %d", provided, wanted);
  } else {
    MPI_Init(&argc, &argv);
  }
  const int ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  int all[64];
  for (int i = 0; i < 20; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    int word = rank == 0 ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int sum = -1;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == i * ranks, "allreduce gives %d in round %d", sum, i);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int other = 0; other < ranks; ++other) {
      expect(all[other] == other, "allgather gives %d", all[other]);
    }
  }
  MPI_Finalize();
  return verdict();
}
