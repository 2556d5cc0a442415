/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * dying_between_nodes RANK[,RANK...] [link]: calls collectives endlessly, during which these ranks
 * are killed or, with "link", take their host's network link down and live on for some seconds.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum {
  numbers = 20000,
  block = 4096,
  most_ranks = 64,
  killed_after = 30,
  seconds_without_link = 5
};

static int is_doomed(const char* list, int rank) {
  for (const char* at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (atoi(at) == rank) return 1;
  }
  return 0;
}

static void take_link_down(void) {
  if (system("ip link set eth0 down") != 0) abort();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(60, "the program stands still\n");
  const int lose_link = argc > 2 && strcmp(argv[2], "link") == 0;
  const int doomed = is_doomed(argc > 1 ? argv[1] : "0", rank_in(MPI_COMM_WORLD));
  double* in = room_for(numbers * sizeof *in);
  double* out = room_for(numbers * sizeof *out);
  char* mine = room_for(block);
  char* all = room_for(block * most_ranks);
  char* few = room_for(block);
  for (int i = 0;; ++i) {
    MPI_Allreduce(in, out, i % 3 * 9000 + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i == killed_after && doomed && !lose_link) kill(getpid(), SIGKILL);
    if (i == killed_after && lose_link) {
      give_up_after(seconds_without_link, "the program stands still\n");
      if (doomed) take_link_down();
    }
    MPI_Bcast(in, numbers, MPI_DOUBLE, i % size_of(MPI_COMM_WORLD), MPI_COMM_WORLD);
    MPI_Allgather(mine, block, MPI_CHAR, all, block, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Reduce(in, out, numbers, MPI_DOUBLE, MPI_SUM, i % size_of(MPI_COMM_WORLD), MPI_COMM_WORLD);
    MPI_Alltoall(all, 8, MPI_CHAR, few, 8, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
