/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Each rank sends five messages of 100 bytes to its neighbor; when all have arrived, rank 1 dies
 * and the others wait for it forever.
 */
#include <mpi.h>
#include <signal.h>

#include "expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(60, "nobody ended this job");
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  static char out[100], in[100];
  for (int i = 0; i < 5; ++i) {
    MPI_Request request;
    MPI_Irecv(in, sizeof in, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, sizeof out, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  MPI_Recv(in, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return verdict();
}
