/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Exchanges blocks whose sizes only their senders and receivers know, like a parallel FFT.
 */
#include <mpi.h>

#include "expect.h"

enum { calls = 400, elements = 1 << 17, most_ranks = 16 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  expect(ranks <= most_ranks, "at most %d ranks", most_ranks);
  const size_t bytes = (size_t)ranks * elements * sizeof(double);
  double* const input = room_for(bytes);
  double* const output = room_for(bytes);
  int counts[most_ranks];
  int places[most_ranks];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = elements - (rank + i) % 2;
    places[i] = i * elements;
    input[places[i]] = 100.0 * rank + i;
  }
  for (int call = 0; call < calls; ++call) {
    MPI_Alltoallv(input, counts, places, MPI_DOUBLE, output, counts, places, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) {
      expect(output[places[i]] == 100.0 * i + rank, "call %d: wrong block of rank %d", call, i);
    }
  }
  MPI_Finalize();
  return verdict();
}
