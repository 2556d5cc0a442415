/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Eight ranks exchange halos on a ring in a shuffled order, so that in order on four hosts no rank
 * shares a host with a neighbour. Each pair has a different number of bytes. Each rank prints where
 * it ran: "rank 3 on h2 at 0-1".
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ranks = 8, steps = 20, most = 1 << 14 };
static const int places[ranks] = {0, 4, 1, 5, 2, 6, 3, 7}; /* on the ring, by rank */

static int at_place(int place) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (places[rank] == (place + ranks) % ranks) return rank;
  }
  return -1;
}

static void say_where(int rank) {
  char host[256] = "", line[256], processors[256] = "?";
  gethostname(host, sizeof host - 1);
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    sscanf(line, "Cpus_allowed_list: %255s", processors);
  }
  if (status != NULL) fclose(status);
  printf("rank %d on %s at %s\n", rank, host, processors);
  fflush(stdout);
}

int main(int argc, char** argv) {
  static char out[2][most], in[2][most];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  say_where(rank);
  const int place = places[rank];
  const int right = at_place(place + 1), left = at_place(place - 1);
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(in[0], most, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], most, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], 10007 + place, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out[1], 9001 + 2 * place, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
