// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times four allgather algorithms of Open MPI, alternating call by call: hosts_allgathers
// REPETITIONS BLOCK_BYTES... A communicator keeps the algorithm that was forced when it was
// created. Each rank times its own part, and the longest time counts, because hosts have no common
// clock. Rank 0 prints "time ALGORITHM CALL BLOCK NS".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { algorithms = 4 };
static const char* const names[algorithms] = {"ring", "doubling", "bruck", "neighbor"};
/* The numbers of the algorithms in `ompi_info --param coll tuned --level 9`. */
static const int numbers[algorithms] = {4, 3, 2, 5};

static MPI_Comm keeping_to(int number) {
  int index = 0, count = 0;
  MPI_T_cvar_handle handle;
  MPI_Comm comm = MPI_COMM_NULL;
  if (MPI_T_cvar_get_index("coll_tuned_allgather_algorithm", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS ||
      MPI_T_cvar_write(handle, &number) != MPI_SUCCESS) {
    fprintf(stderr, "no algorithm can be forced\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_T_cvar_handle_free(&handle);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, provided = 0;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comms[algorithms];
  for (int which = 0; which < algorithms; ++which) comms[which] = keeping_to(numbers[which]);
  const int repetitions = atoi(argv[1]);
  for (int word = 2; word < argc; ++word) {
    const int block = atoi(argv[word]);
    char* const in = calloc(1, (size_t)block);
    char* const out = calloc((size_t)ranks, (size_t)block);
    /* The first call of each algorithm is a warm-up. */
    for (int call = -1; call < repetitions; ++call) {
      for (int turn = 0; turn < algorithms; ++turn) {
        const int which = (turn + call + 1) % algorithms;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Allgather(in, block, MPI_BYTE, out, block, MPI_BYTE, comms[which]);
        const double own = 1e9 * (MPI_Wtime() - start);
        double slowest = 0;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0 && call >= 0)
          printf("time %s %d %d %.0f\n", names[which], call, block, slowest);
      }
    }
    free(in);
    free(out);
  }
  for (int which = 0; which < algorithms; ++which) MPI_Comm_free(&comms[which]);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
