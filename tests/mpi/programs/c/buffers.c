/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Barrier, broadcast, reduce and allreduce with many sizes, from every root, with different data
 * each time; in place, with empty buffers, at absolute addresses, and by the large-count functions.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { most = 300000 };
static const int counts[] = {0, 1, 2, 3, 7, 8, 31, 64, 100, 1000, 4096, 10007, 65536, most};
enum { sizes = sizeof counts / sizeof *counts };
static double* input;
static double* output;
static int round_number;

static double value(int rank, int i) { return (i % 97) + 3 * rank + round_number % 1000; }

static void fill(double* room, int rank, int count) {
  for (int i = 0; i < count; ++i) room[i] = value(rank, i);
}

static double sum_of_all(int ranks, int i) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value(rank, i);
  return sum;
}

static void check_sum(const char* what, const double* room, int count, int ranks) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += room[i] != sum_of_all(ranks, i);
  expect(wrong == 0, "%s of %d doubles: %d are wrong", what, count, wrong);
}

static void try_bcast(MPI_Comm comm, int count, int root, int (*bcast)(void*, int, int, MPI_Comm)) {
  ++round_number;
  const int rank = rank_in(comm);
  memset(output, 0, sizeof(double) * (size_t)count);
  if (rank == root) fill(output, root, count);
  bcast(count == 0 ? NULL : output, count, root, comm);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += output[i] != value(root, i);
  expect(wrong == 0, "bcast of %d doubles from rank %d: %d are wrong", count, root, wrong);
}

static void try_reductions(MPI_Comm comm, int count, int root) {
  ++round_number;
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  void* in = count == 0 ? NULL : input;
  void* out = count == 0 ? NULL : output;
  fill(input, rank, count);
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
  check_sum("allreduce", output, count, ranks);
  fill(output, rank, count);
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, comm);
  check_sum("allreduce in place", output, count, ranks);
  memset(output, 0, sizeof(double) * (size_t)count);
  MPI_Reduce(in, rank == root ? out : NULL, count, MPI_DOUBLE, MPI_SUM, root, comm);
  if (rank == root) check_sum("reduce", output, count, ranks);
  fill(output, rank, count);
  MPI_Reduce(rank == root ? MPI_IN_PLACE : out, rank == root ? out : NULL, count, MPI_DOUBLE,
             MPI_SUM, root, comm);
  if (rank == root) check_sum("reduce in place", output, count, ranks);
  int untouched = 0;
  for (int i = 0; i < count; ++i) untouched += input[i] == value(rank, i);
  expect(untouched == count, "a reduction of %d doubles wrote its input", count);
}

static int plain_bcast(void* buffer, int count, int root, MPI_Comm comm) {
  return MPI_Bcast(buffer, count, MPI_DOUBLE, root, comm);
}

/* Broadcasts doubles by their absolute address, from MPI_BOTTOM. */
static int absolute_bcast(void* buffer, int count, int root, MPI_Comm comm) {
  MPI_Aint address = 0;
  MPI_Get_address(buffer, &address);
  MPI_Datatype there;
  MPI_Type_create_hindexed(1, &count, &address, MPI_DOUBLE, &there);
  MPI_Type_commit(&there);
  const int status = MPI_Bcast(MPI_BOTTOM, 1, there, root, comm);
  MPI_Type_free(&there);
  return status;
}

#if MPI_VERSION >= 4
static int large_bcast(void* buffer, int count, int root, MPI_Comm comm) {
  return MPI_Bcast_c(buffer, count, MPI_DOUBLE, root, comm);
}

static void try_large_forms(MPI_Comm comm, int count, int root) {
  ++round_number;
  try_bcast(comm, count, root, large_bcast);
  const int rank = rank_in(comm);
  fill(input, rank, count);
  MPI_Allreduce_c(input, output, count, MPI_DOUBLE, MPI_SUM, comm);
  check_sum("allreduce_c", output, count, size_of(comm));
  memset(output, 0, most * sizeof *output);
  MPI_Reduce_c(input, output, count, MPI_DOUBLE, MPI_SUM, root, comm);
  if (rank == root) check_sum("reduce_c", output, count, size_of(comm));
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Comm comm = MPI_COMM_WORLD;
  input = room_for(most * sizeof *input);
  output = room_for(most * sizeof *output);
  for (int size = 0; size < sizes; ++size) {
    const int count = counts[size];
    for (int root = 0; root < size_of(comm); ++root) {
      try_bcast(comm, count, root, plain_bcast);
      if (count > 0) try_bcast(comm, count, root, absolute_bcast);
      try_reductions(comm, count, root);
#if MPI_VERSION >= 4
      try_large_forms(comm, count, root);
#endif
      MPI_Barrier(comm);
    }
  }
  MPI_Finalize();
  return verdict();
}
