/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * message_rate ROUNDS BYTES: measures what profiling adds to the time of a message. Rank 0 sends
 * small messages to rank 1 as fast as both can, alternately through MPI_Isend, which a preloaded
 * library may intercept, and through the MPI's own function. Both take turns of a few milliseconds
 * in one process, so that other load on the machine affects both alike. Prints the nanoseconds per
 * message, "through direct", on one line per round.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { window = 64, windows = 50, most = 1 << 16 };
typedef int isend_function(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static char buffer[most];

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Returns PMPI_Isend of the MPI library, even if a preloaded library defines that name as well. */
static isend_function* direct_isend(void) {
  Dl_info mpi;
  dladdr(dlsym(RTLD_NEXT, "PMPI_Comm_rank"), &mpi);
  void* library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : (isend_function*)(size_t)dlsym(library, "PMPI_Isend");
}

static double send_all(isend_function* isend, int bytes) {
  MPI_Request requests[window];
  const double start = now_ns();
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < window; ++i)
      isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(buffer, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return (now_ns() - start) / (window * windows);
}

static void receive_all(int bytes) {
  MPI_Request requests[window];
  for (int w = 0; w < windows; ++w) {
    for (int i = 0; i < window; ++i) {
      MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    MPI_Send(buffer, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100, bytes = argc > 2 ? atoi(argv[2]) : 8;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  isend_function* const ways[2] = {MPI_Isend, direct_isend()};
  if (ways[1] == NULL || bytes > most) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int round = 0; round < rounds; ++round) {
    double ns[2] = {0, 0};
    for (int turn = 0; turn < 2; ++turn) {
      const int way = (turn + round) % 2; /* both come first equally often */
      if (rank == 0) ns[way] = send_all(ways[way], bytes);
      if (rank == 1) receive_all(bytes);
    }
    if (rank == 0) printf("%.3f %.3f\n", ns[0], ns[1]);
  }
  MPI_Finalize();
  return 0;
}
