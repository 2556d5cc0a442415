/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * refusals LIVES SEED: on LIVES communicators, huddle temporarily gets no memory on one rank at a
 * random moment of the first calls. No rank may wait forever for it, results of successful calls
 * must be right, and if one rank has an error, all ranks must have one in the next call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

/* From tools/scarce.c, if that is preloaded; else null. */
typedef int (*Allow)(long number, long of_those_refused);

enum { most = 1 << 12, operations = 12, most_ranks = 16 };

static int rank, ranks;
static unsigned int state;
static int in[most_ranks * most], out[most_ranks * most];

/* Returns a random number, the same on all ranks. */
static unsigned int draw(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static int number_of(int of_rank, int i) { return of_rank * 7919 + i; }

static int sum_of(int of_ranks, int i) {
  int sum = 0;
  for (int r = 0; r < of_ranks; ++r) sum += number_of(r, i);
  return sum;
}

static void fill(int count) {
  for (int i = 0; i < count; ++i) in[i] = number_of(rank, i);
  for (int i = 0; i < most_ranks * most; ++i) out[i] = -1;
}

/* Returns how many of the numbers are wrong. */
static int wrong_sums(int count, int of_ranks, int first) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += out[i] != sum_of(of_ranks, first + i);
  return wrong;
}

static int wrong_blocks(int count, int first) {
  int wrong = 0;
  for (int r = 0; r < ranks; ++r) {
    for (int i = 0; i < count; ++i) wrong += out[r * count + i] != number_of(r, first + i);
  }
  return wrong;
}

/* Returns the MPI's status; adds the number of wrong results, if there are results, to `wrong`. */
static int call(int operation, MPI_Comm comm, int count, int root, int* wrong) {
  int status = MPI_SUCCESS;
  fill(count * ranks);
  switch (operation) {
    case 0:
      return MPI_Barrier(comm);
    case 1:
      if (rank == root) {
        for (int i = 0; i < count; ++i) out[i] = number_of(root, i);
      }
      status = MPI_Bcast(out, count, MPI_INT, root, comm);
      if (status != MPI_SUCCESS) return status;
      for (int i = 0; i < count; ++i) *wrong += out[i] != number_of(root, i);
      return status;
    case 2:
      status = MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
      if (status == MPI_SUCCESS && rank == root) *wrong += wrong_sums(count, ranks, 0);
      return status;
    case 3:
      status = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_sums(count, ranks, 0);
      return status;
    case 4:
      status = MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_blocks(count, 0);
      return status;
    case 5:
      status = MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_blocks(count, rank * count);
      return status;
    case 6:
      status = MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
      if (status == MPI_SUCCESS && rank == root) *wrong += wrong_blocks(count, 0);
      return status;
    case 7:
      status = MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
      if (status != MPI_SUCCESS) return status;
      for (int i = 0; i < count; ++i) *wrong += out[i] != number_of(root, rank * count + i);
      return status;
    case 8:
      status = MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_sums(count, ranks, rank * count);
      return status;
    case 9:
      status = MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_sums(count, rank + 1, 0);
      return status;
    case 10: {
      int counts[most_ranks], places[most_ranks];
      for (int r = 0; r < ranks; ++r) {
        counts[r] = count;
        places[r] = r * count;
      }
      status = MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_blocks(count, rank * count);
      return status;
    }
    default: {
      /* In place, which needs memory for a copy in each call. */
      int counts[most_ranks];
      for (int r = 0; r < ranks; ++r) counts[r] = count;
      for (int i = 0; i < count * ranks; ++i) out[i] = in[i];
      status = MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_INT, MPI_SUM, comm);
      if (status == MPI_SUCCESS) *wrong += wrong_sums(count, ranks, rank * count);
      return status;
    }
  }
}

/* Returns how many ranks had an error, by an allreduce on MPI_COMM_WORLD. */
static int errors_of_all(int status) {
  int mine = status != MPI_SUCCESS, all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long lives = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  state = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 1;
  const Allow allow = (Allow)dlsym(RTLD_DEFAULT, "scarce_allow");
  const int has_huddle = allow != NULL && allow(-1, 0);
  long failed = 0;
  for (long life = 0; life < lives; ++life) {
    const int poor = (int)(draw() % (unsigned int)ranks);
    const long number = (long)(draw() % (1u << draw() % 12));
    const long refused = draw() % 4 == 0 ? 1 + (long)(draw() % 50) : 1;
    MPI_Comm comm;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == poor && has_huddle) allow(number, refused);
    for (int i = 0; i < operations; ++i) {
      const int operation = (int)(draw() % operations);
      const int count = 1 + (int)(draw() % (1u << draw() % 13) % most);
      const int root = (int)(draw() % (unsigned int)ranks);
      int wrong = 0;
      const int status = call(operation, comm, count, root, &wrong);
      expect(wrong == 0, "life %ld, call %d: operation %d: %d numbers", life, i, operation, wrong);
      const int errors = errors_of_all(status);
      if (errors == 0) continue;
      ++failed;
      expect(errors_of_all(MPI_Barrier(comm)) == ranks,
             "life %ld, call %d: operation %d: an error that is not everybody's", life, i,
             operation);
      break;
    }
    if (has_huddle) allow(-1, 0);
    MPI_Comm_free(&comm);
  }
  if (rank == 0) printf("%ld lives, %ld ended by an error, huddle %d\n", lives, failed, has_huddle);
  MPI_Finalize();
  return verdict();
}
